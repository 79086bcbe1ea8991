//! Elements of SVG, and the scale from 0 to 100 %.

use std::fmt::Write as _;

/// Width of all plots, in user units; a page scales them.
pub(super) const WIDTH: f64 = 640.0;

/// Colours follow the scheme of whoever looks. Those of series are of Okabe and Ito, told apart by
/// colour-blind eyes; dashes tell them apart in print.
const STYLE: &str = "\
.plot{--ink:#1f2328;--dim:#656d76;--grid:#d8dee4;--fill:#0072b2;--pale:#9ec9e2;\
--s0:#0072b2;--s1:#d55e00;--s2:#009e73;--s3:#8b5fbf;--s4:#8a6d00;--s5:#b0307a;\
font:13px system-ui,sans-serif}\
@media(prefers-color-scheme:dark){.plot{--ink:#e6edf3;--dim:#9198a1;--grid:#30363d;\
--fill:#56b4e9;--pale:#245a7a;--s0:#56b4e9;--s1:#ff9550;--s2:#3ddbb0;--s3:#c9a3f0;--s4:#e0c04a;--s5:#f28cc4}}\
.plot text{fill:var(--ink)}.plot .dim{fill:var(--dim)}.plot .grid{stroke:var(--grid)}\
.plot .axis{stroke:var(--dim)}.plot .bar{fill:var(--fill)}.plot .pale{fill:var(--pale)}\
.plot .whisker{stroke:var(--ink);stroke-width:1.5}.plot .mark{fill:none;stroke:var(--s1);stroke-width:2}\
.plot .line{fill:none;stroke-width:2}.plot .ideal{stroke:var(--dim);stroke-dasharray:4 4}\
.plot .c0{stroke:var(--s0)}.plot .c1{stroke:var(--s1);stroke-dasharray:7 3}\
.plot .c2{stroke:var(--s2);stroke-dasharray:2 3}.plot .c3{stroke:var(--s3);stroke-dasharray:9 3 2 3}\
.plot .c4{stroke:var(--s4);stroke-dasharray:1 2}.plot .c5{stroke:var(--s5);stroke-dasharray:12 4}\
.plot .d0{fill:var(--s0)}.plot .d1{fill:var(--s1)}.plot .d2{fill:var(--s2)}.plot .d3{fill:var(--s3)}\
.plot .d4{fill:var(--s4)}.plot .d5{fill:var(--s5)}\
.plot .band{opacity:.15}";

/// A picture that is being drawn.
pub(super) struct Canvas {
    body: String,
    height: f64,
}

/// Where a text is held.
#[derive(Clone, Copy)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

impl Canvas {
    pub fn new(height: f64) -> Self {
        Self {
            body: String::new(),
            height,
        }
    }

    pub fn line(&mut self, class: &str, from: (f64, f64), to: (f64, f64)) {
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\"/>",
            from.0, from.1, to.0, to.1
        );
    }

    /// A rectangle; `title` is shown when it is pointed at.
    pub fn rectangle(&mut self, class: &str, at: (f64, f64), size: (f64, f64), title: &str) {
        let _ = writeln!(
            self.body,
            "<rect class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\">\
             <title>{}</title></rect>",
            at.0,
            at.1,
            size.0.max(0.0),
            size.1.max(0.0),
            escaped(title)
        );
    }

    pub fn circle(&mut self, class: &str, at: (f64, f64), radius: f64, title: &str) {
        let _ = writeln!(
            self.body,
            "<circle class=\"{class}\" cx=\"{:.1}\" cy=\"{:.1}\" r=\"{radius:.1}\"><title>{}</title>\
             </circle>",
            at.0,
            at.1,
            escaped(title)
        );
    }

    pub fn polyline(&mut self, class: &str, points: &[(f64, f64)]) {
        let _ = writeln!(
            self.body,
            "<polyline class=\"{class}\" points=\"{}\"/>",
            listed(points)
        );
    }

    pub fn polygon(&mut self, class: &str, points: &[(f64, f64)]) {
        let _ = writeln!(
            self.body,
            "<polygon class=\"{class}\" points=\"{}\"/>",
            listed(points)
        );
    }

    /// A text that is held on its base line.
    pub fn text(&mut self, class: &str, at: (f64, f64), anchor: Anchor, text: &str) {
        let anchor = match anchor {
            Anchor::Start => "start",
            Anchor::Middle => "middle",
            Anchor::End => "end",
        };
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
            at.0,
            at.1,
            escaped(text)
        );
    }

    /// The whole picture. `name` tells its title and description from those of others on a page.
    pub fn finish(self, name: &str, title: &str, description: &str) -> String {
        let name = escaped(name);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" \
             viewBox=\"0 0 {WIDTH} {}\" aria-labelledby=\"{name}-title {name}-text\">\n\
             <title id=\"{name}-title\">{}</title>\n<desc id=\"{name}-text\">{}</desc>\n\
             <style>{STYLE}</style>\n{}</svg>\n",
            self.height,
            escaped(title),
            escaped(description),
            self.body
        )
    }
}

fn listed(points: &[(f64, f64)]) -> String {
    let points: Vec<String> = points
        .iter()
        .map(|(x, y)| format!("{x:.1},{y:.1}"))
        .collect();
    points.join(" ")
}

/// A share as text: `97.5 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1} %", share * 100.0)
}

/// Text in markup.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // No XML can hold them.
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

/// Shares at which a scale is marked.
pub(super) const TICKS: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

/// What is written there.
pub(super) fn tick(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
