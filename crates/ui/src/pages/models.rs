//! The models that there are.

use crate::pages::frame::say;
use crate::pages::{Visit, page as framed};
use axum::response::Response;
use kurabe_core::text;
use kurabe_report::{Html, row_of_layers};
use kurabe_sim::{DEVICES, device_named};

/// `GET /models`
pub(crate) async fn page(visit: Visit) -> Response {
    framed(visit, move |_, lang| {
        let title = text!("Models", "モデル");
        let mut html = Html::new();
        say(&mut html, "h1", "", &title, lang);
        let words = text!(
            "Storage that is not at hand, computed from what it is made of. Change a part and see what comes of it.",
            "手元にないストレージを、その仕組みから計算します。部品を変えると結果がどう変わるかを見られます。"
        );
        say(&mut html, "p", "", &words, lang);
        html.raw("<ul class=\"models\">");
        for (name, _) in DEVICES {
            let model = device_named(name)?;
            html.raw("<li>").open("a", &[("href", &format!("/models/{name}"))]);
            html.element("b", &[], model.title.get(lang));
            html.element("small", &[], name).element("small", &[], &row_of_layers(&model.layers)).raw("</a></li>");
        }
        html.raw("</ul>");
        Ok((title, html))
    })
    .await
}
