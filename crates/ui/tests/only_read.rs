//! An existing file or device is only read, whatever the page requests.

use crate::attacks::Attacked;
use crate::client::Answer;
use kurabe_testkit::needs::{LOOP_DEVICE, skip};
use std::process::Command;

/// A loop device over a file of zeros, until this value is dropped.
pub struct LoopDevice(pub String);

impl LoopDevice {
    pub fn over(image: &std::path::Path) -> Option<Self> {
        let made = Command::new("losetup")
            .args(["-f", "--show"])
            .arg(image)
            .output()
            .ok()
            .filter(|made| made.status.success())?;
        Some(Self(String::from_utf8_lossy(&made.stdout).trim().to_owned()))
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        let _ = Command::new("losetup").args(["-d", &self.0]).status();
    }
}

/// Measures a target to its end through the page and returns the record.
fn measured(attacked: &Attacked, target: &str) -> serde_json::Value {
    let form = serde_json::json!({ "target": target, "profile": "quick", "runs": "1" }).to_string();
    let answer = attacked.page.send(&attacked.post("/measure", &form));
    assert_eq!(answer.status, 200, "{answer:?}");
    let run: serde_json::Value = serde_json::from_str(&answer.body).expect("JSON");
    let id = run["run"].as_str().expect("an id").to_owned();
    let board = || attacked.page.send(&attacked.get("/board")).body;
    crate::client::wait_until("the run is over", || board().contains("class=\"after\""));
    let Answer { body, .. } = attacked.page.send(&attacked.get(&format!("/runs/{id}/record.json")));
    serde_json::from_str::<serde_json::Value>(&body).expect("JSON")["run"].take()
}

/// Returns the directions of the measured cells.
fn directions(record: &serde_json::Value) -> Vec<&str> {
    record["cells"].as_array().expect("cells").iter().filter_map(|cell| cell["direction"].as_str()).collect()
}

#[test]
fn a_file_that_was_there_is_only_read() {
    let attacked = Attacked::new();
    let path = attacked.page.folder().join("precious");
    let content: Vec<u8> = (0..4_u32 << 20).map(|place| (place % 251) as u8).collect();
    std::fs::write(&path, &content).expect("a file");
    let record = measured(&attacked, path.to_str().expect("a path"));
    assert_eq!(directions(&record), ["read"; 3]);
    assert!(std::fs::read(&path).expect("the file") == content, "not a byte changes");
}

#[test]
fn a_device_is_only_read() {
    let attacked = Attacked::new();
    let image = attacked.page.folder().join("image");
    let content: Vec<u8> = (0..16_u32 << 20).map(|place| (place % 253) as u8).collect();
    std::fs::write(&image, &content).expect("an image");
    let Some(device) = LoopDevice::over(&image) else {
        skip(LOOP_DEVICE);
        return;
    };
    let record = measured(&attacked, &device.0);
    assert_eq!(directions(&record), ["read"; 3]);
    assert_eq!(record["header"]["target"]["writable"], false);
    std::fs::File::open(&device.0).and_then(|device| device.sync_all()).expect("written back");
    drop(device);
    assert!(std::fs::read(&image).expect("the image") == content, "not a byte changes");
}
