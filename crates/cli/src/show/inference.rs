//! The mechanism of a device with its parameters, and predicted figures.

use kurabe_core::record::Measure;
use kurabe_core::{Text, number, shown, text};
use kurabe_doc::{Doc, Paragraph, Role};
use kurabe_infer::{
    InferredDevice, InferredParameter, InferredValue, ProbeOrder, ProbeResidual, ProbeWorkload, ProbeWrites,
    ValueInterval, quantity,
};
use kurabe_lab::{InferredTarget, PredictedFigure};
use kurabe_report::words;
use kurabe_sim::ParameterType;

/// Residuals that are shown where nothing explains the device.
const SHOWN_RESIDUALS: usize = 6;

/// Renders the parameters of a device, or what contradicts every mechanism.
pub fn inference_doc(inferred: &InferredTarget) -> Doc {
    let device = &inferred.device;
    let mut doc = Doc::new();
    doc.gap().push(Paragraph::new(words::sentence(&headline(device))).role(Role::Strong));
    if !device.is_explained {
        for residual in device.residuals.iter().take(SHOWN_RESIDUALS) {
            doc.push(Paragraph::new(residual_line(residual)).indent(2, 4));
        }
        return doc;
    }
    for parameter in device.parameters() {
        doc.push(Paragraph::new(parameter_line(&parameter)).role(role_of(&parameter)).indent(2, 4));
    }
    for sum in device.sums() {
        let (paths, value) = (sum.paths.join(" + "), interval_words(ParameterType::Time, &sum.interval));
        doc.push(
            Paragraph::new(text!("only together: {paths} = {value}", "和のみ判明: {paths} = {value}"))
                .indent(2, 4),
        );
    }
    if !inferred.predictions.is_empty() {
        let title = text!("predicted, each with its 95 % interval", "予測値と 95% 区間");
        doc.gap().push(Paragraph::new(words::sentence(&title)).role(Role::Strong));
    }
    for figure in &inferred.predictions {
        doc.push(Paragraph::new(figure_line(figure)).indent(2, 4));
    }
    doc
}

fn role_of(parameter: &InferredParameter) -> Role {
    match parameter.value {
        InferredValue::Chosen(_) | InferredValue::Stated(_) => Role::Plain,
        InferredValue::OneOf(_) | InferredValue::Between(_) => Role::Quiet,
    }
}

fn headline(device: &InferredDevice) -> Text {
    let (family, count) = (&device.family.title, device.residuals.len());
    let time = number::long_time(device.measured.probing_ns);
    let misfit = number::ratio(device.misfit);
    if !device.is_explained {
        return text!(
            "no stack that kurabe knows explains this device: the nearest ({family}) differs from the \
             {count} measured times by {misfit} times their error. The largest differences follow",
            "kurabe の知るどの構成でも説明できません。最も近い「{family}」でも、{count} 個の測定値との差が誤差の \
             {misfit} 倍あります。差の大きいもの";
            family
        );
    }
    let explained = text!(
        "{family}: it explains {count} times, measured in {time}, within {misfit} times their error",
        "{family}: {time} で測った {count} 個の値を、誤差の {misfit} 倍以内で説明できます";
        family
    );
    if device.rivals.is_empty() {
        return explained;
    }
    let rivals = Text::list(device.rivals.iter().cloned());
    text!("{explained}; {rivals} would as well", "{explained}。{rivals} でも説明できます"; explained, rivals)
}

fn interval_words(kind: ParameterType, interval: &ValueInterval) -> String {
    let [low, middle, high] =
        [interval.low, interval.middle, interval.high].map(|value| quantity(kind, value));
    format!("{middle} ({low} … {high})")
}

fn parameter_line(parameter: &InferredParameter) -> Text {
    let path = &parameter.path;
    match &parameter.value {
        InferredValue::Chosen(word) => Text::same(format!("{path} = {word}")),
        InferredValue::Stated(interval) => {
            Text::same(format!("{path} = {}", interval_words(parameter.kind, interval)))
        }
        InferredValue::OneOf(list) => {
            let each = |(word, share): &(String, f64)| format!("{word} ({:.0} %)", share * 100.0);
            let list = list.iter().map(each).collect::<Vec<_>>().join(", ");
            text!("{path}: unclear: {list}", "{path}: 不明: {list}")
        }
        InferredValue::Between(interval) => {
            let (low, high) =
                (quantity(parameter.kind, interval.low), quantity(parameter.kind, interval.high));
            text!("{path}: unclear: {low} to {high}", "{path}: 不明: {low} から {high}")
        }
    }
}

fn residual_line(residual: &ProbeResidual) -> Text {
    let workload = workload_words(&residual.workload);
    let [measured, modelled] =
        [residual.measured_ns, residual.modelled_ns].map(|time| quantity(ParameterType::Time, time));
    text!(
        "{workload}: {measured} each, the model {modelled}",
        "{workload}: 実測 {measured}、モデル {modelled}";
        workload
    )
}

/// Describes a workload: its operations, size and depth.
fn workload_words(workload: &ProbeWorkload) -> Text {
    let size = kurabe_core::quantity::format_bytes(u64::from(workload.block_bytes));
    let order = match workload.order {
        ProbeOrder::Random => text!("random", "ランダム"),
        ProbeOrder::Sequential => text!("sequential", "シーケンシャル"),
        ProbeOrder::Again => text!("repeated", "同じ位置の"),
    };
    let kind = match workload.writes {
        ProbeWrites::None => text!("reads", "読み出し"),
        ProbeWrites::Percent(100) => text!("writes", "書き込み"),
        ProbeWrites::Percent(_) | ProbeWrites::Turns(_) => text!("reads and writes", "読み書き"),
    };
    let depth = workload.depth;
    text!(
        "{order} {kind} of {size} at queue depth {depth}",
        "{size} の{order}{kind}(キュー深さ {depth})";
        order, kind
    )
}

fn figure_line(figure: &PredictedFigure) -> Text {
    let name = words::directed(figure.direction, &shown::line(&figure.label).into());
    let of = |value: f64| match figure.measure {
        Measure::Rate => number::rate(value).to_string(),
        Measure::Operations => format!("{} IOPS", number::count(value as u64)),
        Measure::AccessTime | Measure::Duration => quantity(ParameterType::Time, value),
    };
    let [low, middle, high] = [figure.interval.low, figure.interval.middle, figure.interval.high].map(of);
    text!("{name}: {middle} ({low} … {high})", "{name}: {middle} ({low} … {high})"; name)
}
