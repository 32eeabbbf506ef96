//! Which of several runs is the fastest, in a sentence.

use kurabe_compare::Fastest;
use kurabe_core::{Text, text};

/// The sentence, for runs with these names.
pub fn fastest_words(fastest: &Fastest, names: &[Text]) -> Text {
    let unbeaten = Text::list(fastest.unbeaten.iter().map(|index| names[*index].clone()));
    match fastest.unbeaten.len() {
        unbeaten if !fastest.is_decided || unbeaten == 0 => {
            let leads = leads(fastest, names);
            let none = match fastest.is_decided {
                true => text!("the fastest in every cell", "すべての項目で最も速い"),
                false => text!("measurably faster than another", "有意に速い"),
            };
            text!(
                "None of them is {none}; by their means {leads}.",
                "{none}測定はありません。平均では、{leads}。";
                none, leads
            )
        }
        1 => text!(
            "The fastest is {unbeaten}: it is slower than none of the others in any cell.",
            "最も速いのは {unbeaten} です(ほかより遅い項目はありません)。";
            unbeaten
        ),
        _ => text!(
            "The fastest are {unbeaten}: they are slower than none of the others in any cell.",
            "最も速いのは {unbeaten} です(いずれも、ほかより遅い項目はありません)。";
            unbeaten
        ),
    }
}

/// `a leads in 4 of 6 cells, b in 2`: who leads most often comes first.
fn leads(fastest: &Fastest, names: &[Text]) -> Text {
    let mut leads: Vec<(usize, &Text)> = fastest.leads.iter().copied().zip(names).collect();
    leads.retain(|(count, _)| *count > 0);
    leads.sort_by_key(|(count, _)| std::cmp::Reverse(*count));
    let all = fastest.cell_count;
    let each = leads.into_iter().enumerate().map(|(index, (count, name))| match index {
        0 => text!(
            "{name} leads in {count} of {all} cells",
            "{name} が {all} 項目中 {count} 項目で先頭";
            name
        ),
        _ => text!("{name} in {count}", "{name} が {count} 項目で先頭"; name),
    });
    Text::list(each)
}
