use crate::answer::{Answer, fencepost, fencepost_in};
use std::path::Path;

#[track_caller]
pub(crate) fn is_refused(answer: &Answer, parts: &[&str]) {
    let Answer { asked, status, stdout, stderr } = answer;
    assert_eq!((*status, stdout.as_str()), (2, ""), "{asked}: {stderr}");
    assert_eq!(stderr.lines().count(), 1, "{asked}: {stderr}");
    assert!(stderr.starts_with("error: "), "{asked}: {stderr}");
    for part in parts {
        assert!(stderr.contains(part), "{asked}: {stderr:?} does not say {part:?}");
    }
}

#[track_caller]
pub(crate) fn refuses(arguments: &[&str], parts: &[&str]) {
    is_refused(&fencepost(arguments), parts);
}

#[track_caller]
pub(crate) fn refusal_in(folder: &Path, arguments: &[&str]) -> String {
    let answer = fencepost_in(folder, arguments);
    is_refused(&answer, &[]);
    answer.stderr.trim_end().to_owned()
}

#[track_caller]
pub(crate) fn refusal(arguments: &[&str]) -> String {
    refusal_in(Path::new("."), arguments)
}
