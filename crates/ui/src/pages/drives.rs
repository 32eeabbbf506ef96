//! The drives of this machine as cards, each with one button that measures it.

use super::kit::*;
use crate::places::{DriveCard, TargetOffer};

/// Renders the cards. They are open on the first visit, when there is nothing else to see.
pub(crate) fn drive_list(cards: &[DriveCard], is_open: bool, lang: Lang) -> Markup {
    html! {
        details #drives open[is_open] {
            summary { (text!("Drives of this computer", "このコンピューターのドライブ").get(lang)) }
            div.places { @for card in cards { (drive_card(card, lang)) } }
        }
    }
}

fn drive_card(card: &DriveCard, lang: Lang) -> Markup {
    let DriveCard { name, facts, directories, whole, .. } = card;
    let target = card.target();
    let limit = |place: &TargetOffer| place.limit.as_ref().map(|limit| limit.line(lang));
    // The card says why it has no button, and what its button leaves out.
    let why = match target {
        Some(place) => limit(place),
        None => directories.iter().chain(whole).find_map(limit),
    };
    html! {
        div.place {
            p.name {
                b { (name.get(lang)) }
                @if card.is_system { em { (text!("system disk", "システムディスク").get(lang)) } }
            }
            p.quiet { (Text::join(facts.iter().cloned(), [" · "; 2]).get(lang)) }
            @for place in directories { p { (place.facts_line().get(lang)) } }
            @if let Some(why) = why { p.limit { (why) } }
            @if let Some(place) = target {
                p.line {
                    button type="button" data-measure=(place.target) { (button_words(place).get(lang)) }
                    @if let Some(whole) = whole.as_ref().filter(|whole| whole.is_usable) {
                        a href={ "/drive?target=" (encoded(&whole.target)) } {
                            (text!("curve and earlier runs", "曲線とこれまでの測定").get(lang))
                        }
                    }
                }
            }
        }
    }
}

fn button_words(place: &TargetOffer) -> Text {
    match place.is_drive {
        true => text!("Measure reads", "読み出しを測定"),
        false => text!("Measure", "測定する"),
    }
}
