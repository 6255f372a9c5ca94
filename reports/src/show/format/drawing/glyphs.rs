use crate::show::picture::Glyph;
use fencepost_faults::Node;

pub(crate) fn glyph(glyph: Glyph) -> (&'static str, &'static str) {
    match glyph {
        Glyph::Asks => ("hollow", "<circle r=\"2.5\"/>"),
        Glyph::Granted => ("full", "<circle r=\"4.5\"/>"),
        Glyph::Releases => ("hollow", "<rect x=\"-4\" y=\"-4\" width=\"8\" height=\"8\"/>"),
        Glyph::Hears => ("full", "<circle r=\"1.8\"/>"),
        Glyph::Fails => ("cross", "<path d=\"M-3-3 3 3M-3 3 3-3\"/>"),
        Glyph::Sleeps => ("hollow", "<path d=\"M-4-4H4L-4 4H4\"/>"),
        Glyph::KeySet => ("full", "<path d=\"M0-6 5 0 0 6-5 0Z\"/>"),
        Glyph::KeyGone => ("hollow", "<path d=\"M0-6 5 0 0 6-5 0Z\"/>"),
        Glyph::Reads => ("hollow", "<path d=\"M0 5 5-4-5-4Z\"/>"),
        Glyph::Writes => ("full", "<path d=\"M0-6 6 5-6 5Z\"/>"),
        Glyph::Rejects => ("cross bad", "<path d=\"M-5-5 5 5M-5 5 5-5\"/>"),
        Glyph::Dies => ("cross bad", "<path d=\"M-7-7 7 7M-7 7 7-7\"/>"),
        Glyph::Starts => ("good", "<path d=\"M-4-6 6 0-4 6Z\"/>"),
        Glyph::Turns => ("full", "<path d=\"M-1.5 8V-7L6-3.5-1.5 0\"/>"),
        Glyph::FaultBegins => ("bolt", "<path d=\"M1-8-5 1-1 1-2 8 5-2 1-2Z\"/>"),
        Glyph::FaultEnds => ("ended", "<path d=\"M0-5V5\"/>"),
    }
}

pub(crate) fn colour(owner: Option<Node>) -> String {
    let place = match owner {
        Some(Node::Client(number)) => u32::from(number),
        Some(Node::Thread { client, thread }) => u32::from(client) + 3 * (u32::from(thread) - 1),
        _ => return "c0".to_owned(),
    };
    format!("c{}", (place.max(1) - 1) % 8 + 1)
}

pub(crate) const LEGEND: &[(&str, &str)] = &[
    (
        "<rect class=\"believed c1\" x=\"1\" y=\"2\" width=\"28\" height=\"12\"/>",
        "believes it holds",
    ),
    ("<rect class=\"key c1\" x=\"1\" y=\"4\" width=\"28\" height=\"8\"/>", "lock at a server"),
    (
        "<rect class=\"key copy c1\" x=\"1\" y=\"4\" width=\"28\" height=\"8\"/>",
        "copy at a replica",
    ),
    ("<rect class=\"clash\" x=\"1\" y=\"0\" width=\"28\" height=\"16\"/>", "two holders"),
    ("<rect class=\"still\" x=\"1\" y=\"1\" width=\"28\" height=\"14\"/>", "paused or down"),
    (
        "<rect class=\"link-fault\" x=\"1\" y=\"5\" width=\"28\" height=\"5\"/>",
        "fault of a link or clock",
    ),
    (
        "<g class=\"mark full c1\" transform=\"translate(15 8)\"><path d=\"M0-6 6 5-6 5Z\"/></g>",
        "write accepted",
    ),
    (
        "<g class=\"mark full\" transform=\"translate(15 8)\">\
         <path d=\"M-1.5 8V-7L6-3.5-1.5 0\"/></g>",
        "server or Sentinel changes its role",
    ),
    (
        "<g class=\"mark hollow c1\" transform=\"translate(15 8)\"><path d=\"M0 5 5-4-5-4Z\"/></g>",
        "read",
    ),
    (
        "<g class=\"mark full c1\" transform=\"translate(15 8)\"><path d=\"M0-6 5 0 0 6-5 \
         0Z\"/></g>",
        "server sets lock",
    ),
    (
        "<g class=\"mark hollow c1\" transform=\"translate(15 8)\"><path d=\"M0-6 5 0 0 6-5 \
         0Z\"/></g>",
        "lock gone",
    ),
    (
        "<g class=\"mark cross bad\" transform=\"translate(15 8)\"><path d=\"M-5-5 5 5M-5 5 \
         5-5\"/></g>",
        "rejected, or crashes",
    ),
    ("<line class=\"message\" x1=\"2\" y1=\"14\" x2=\"28\" y2=\"2\"/>", "message"),
    ("<line class=\"message lost\" x1=\"2\" y1=\"14\" x2=\"28\" y2=\"2\"/>", "message lost"),
    (
        "<g class=\"badge\" transform=\"translate(15 8)\"><circle r=\"7\"/><text \
         y=\"3.5\">1</text></g>",
        "evidence",
    ),
];
