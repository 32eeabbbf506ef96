//! Notes on differences from fio.

use kurabe_core::{Text, text};

/// Differences from fio, and options without an effect, each once.
#[derive(Clone, Default)]
pub(super) struct Notes {
    texts: Vec<Text>,
    /// Options without an effect, by the reason.
    idle: Vec<(&'static Text, Vec<String>)>,
}

impl Notes {
    pub(super) fn add(&mut self, note: Text) {
        if !self.texts.contains(&note) {
            self.texts.push(note);
        }
    }

    pub(super) fn idle(&mut self, name: &str, why: &'static Text) {
        let at = self.idle.iter().position(|(other, _)| *other == why).unwrap_or_else(|| {
            self.idle.push((why, Vec::new()));
            self.idle.len() - 1
        });
        let names = &mut self.idle[at].1;
        if !names.iter().any(|other| other == name) {
            names.push(name.to_owned());
        }
    }

    pub(super) fn into_text(mut self) -> Option<Text> {
        for (why, names) in self.idle {
            let names = names.join(", ");
            self.texts.push(text!(
                "without effect here: {names} ({why})",
                "ここでは効果なし: {names}({why})";
                why
            ));
        }
        (!self.texts.is_empty()).then(|| Text::join(self.texts, ["; ", "。"]))
    }
}
