//! An exported run of any bytes, by itself, in a report's JSON or in its page: read without a panic; what is accepted is the
//! same after another trip.

use kurabe_interop::{embed_in_page, embedded_in_page};
use kurabe_store::{export, export_bundle, export_packed_bundle, parse_bundle, parse_export};

pub fn holds(bytes: &[u8]) {
    let _ = parse_bundle(bytes);
    let _ = embedded_in_page(bytes).map(|embedded| embedded.and_then(parse_bundle));
    let Ok(run) = parse_export(bytes) else { return };
    let text = export(&run).unwrap();
    let again = parse_export(text.as_bytes()).expect("kurabe reads what it wrote");
    assert_eq!(again, run);
    assert_eq!(export(&again).unwrap(), text);
    for bundle in
        [export_bundle(vec![run.clone()]).unwrap(), export_packed_bundle(vec![run.clone()]).unwrap()]
    {
        let page = embed_in_page(&bundle);
        let json = embedded_in_page(page.as_bytes()).expect("a page").expect("a whole page");
        assert_eq!(parse_bundle(json).expect("kurabe reads what it wrote"), std::slice::from_ref(&run));
    }
}
