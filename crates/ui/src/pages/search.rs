//! Lists that can be searched and have several pages.

use super::kit::*;

/// Query parameters of a list.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(crate) struct Search {
    /// The search words.
    pub(crate) q: String,
    /// The page, from 0.
    page: usize,
    /// Whether to wait until figures are computed.
    pub(crate) figures: bool,
}

impl Search {
    /// Returns a predicate for texts that contain all search words, ignoring case.
    pub(crate) fn filter(&self) -> impl Fn(&str) -> bool + use<> {
        let words: Vec<String> = self.q.to_lowercase().split_whitespace().map(str::to_owned).collect();
        move |haystack| {
            let haystack = haystack.to_lowercase();
            words.iter().all(|word| haystack.contains(word))
        }
    }

    /// Renders the search field. The script searches while the user types, and replaces the element
    /// with the id `list`.
    pub(crate) fn form(&self, path: &str, label: &Text, lang: Lang) -> Markup {
        html! {
            form.line method="get" action=(path) role="search" {
                label {
                    (label.get(lang)) " "
                    input type="search" name="q" aria-keyshortcuts="/" value=(shown::line(&self.q));
                }
                " "
                button { (text!("search", "検索").get(lang)) }
            }
        }
    }

    /// Renders common search words as filters. Each adds its word to the others, or removes it.
    pub(crate) fn chips(&self, path: &str, kinds: &[(&str, Text)], lang: Lang) -> Markup {
        let own: Vec<&str> = self.q.split_whitespace().collect();
        let without = |word: &str| own.iter().copied().filter(|other| *other != word).collect::<Vec<_>>();
        html! {
            p.chips { @for (word, name) in kinds {
                @let is_on = own.contains(word);
                @let others = without(word);
                @let words = if is_on { others } else { others.into_iter().chain([*word]).collect() };
                @let address = format!("{path}?q={}", encoded(&words.join(" ")));
                a href=(address) aria-current=[is_on.then_some("true")] { (name.get(lang)) } " "
            } }
        }
    }

    /// Returns the part of a list for the current page, and whether more pages follow.
    pub(crate) fn part<'a, T>(&self, list: &'a [T], on_a_page: usize) -> (&'a [T], bool) {
        let rest = &list[self.page.saturating_mul(on_a_page).min(list.len())..];
        (&rest[..rest.len().min(on_a_page)], rest.len() > on_a_page)
    }

    /// Renders links to the previous and the next page.
    pub(crate) fn further(
        &self,
        path: &str,
        has_more: bool,
        [before, after]: [Text; 2],
        lang: Lang,
    ) -> Markup {
        let address = |page: usize| format!("{path}?q={}&page={page}", encoded(&self.q));
        let before = self.page.checked_sub(1).map(|page| (address(page), before));
        ways_to(before.into_iter().chain(has_more.then(|| (address(self.page + 1), after))), lang)
    }
}
