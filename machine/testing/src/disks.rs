use bytes::Bytes;
use fencepost_machine::{Damage, Disk, DiskImage, Input, Machine, Now, Output, Outputs, Response};

/// Checks that a machine refuses files with a flipped bit, but starts from a truncated log.
pub fn check<M: Machine>(image: &DiskImage, boot: impl Fn(&DiskImage) -> M) {
    let at_boot = |image: &DiskImage| {
        let mut out = Outputs::default();
        boot(image).handle(Input::Timer, Now::default(), &mut out);
        out
    };
    for damaged in flipped(image) {
        let out = at_boot(&damaged);
        let refused = damages(&out).any(|damage| damage.response == Response::Refused);
        assert!(refused && out.stopped, "{damaged:?} is accepted: {out:?}");
        assert_eq!(out.list.len(), 1, "nothing else happens to {damaged:?}: {out:?}");
    }
    for end in 0..image.append_only.len() {
        let append_only = image.append_only.slice(..end);
        let cut = DiskImage { append_only, ..image.clone() };
        let out = at_boot(&cut);
        assert!(!out.stopped, "a log of {end} bytes is refused: {out:?}");
        let is_reported = damages(&out).any(|damage| damage.response == Response::Repaired);
        let mut disk = Disk::holding(cut.clone());
        for output in &out.list {
            disk.apply(output);
        }
        let is_kept = disk.image().append_only.starts_with(&cut.append_only);
        assert!(is_reported || is_kept, "a log of {end} bytes changes in silence: {out:?}");
        let again = at_boot(&disk.image());
        assert_eq!(damages(&again).next(), None, "a log of {end} bytes is not repaired");
    }
}

fn damages(out: &Outputs) -> impl Iterator<Item = &Damage> {
    out.list.iter().filter_map(|output| match output {
        Output::Damaged(damage) => Some(damage),
        _ => None,
    })
}

fn flipped(image: &DiskImage) -> Vec<DiskImage> {
    let flips = |bytes: &Bytes| -> Vec<Bytes> {
        let flip = |at: usize| {
            let mut flipped = bytes.to_vec();
            flipped[at] ^= 1 << (at % 8);
            Bytes::from(flipped)
        };
        (0..bytes.len()).map(flip).collect()
    };
    let mut all = Vec::new();
    for append_only in flips(&image.append_only) {
        all.push(DiskImage { append_only, ..image.clone() });
    }
    for snapshot in image.snapshot.iter().flat_map(flips) {
        all.push(DiskImage { snapshot: Some(snapshot), ..image.clone() });
    }
    for config in image.config.iter().flat_map(flips) {
        all.push(DiskImage { config: Some(config), ..image.clone() });
    }
    all
}
