//! The repair stage (Br11 section 3.5): a cap that closes the border left by the split.

use super::projection::Projection;
use super::split::Split;
use crate::fill::Border;

/// Triangles, in references, that close the back: seen from the front they run counter-clockwise.
pub(super) fn triangulate(split: &Split, plane: &Projection) -> Vec<[u32; 3]> {
    let mut border = split.border.clone();
    // overlapping solids are closed one by one
    border.sort_by_cached_key(|&[from, _]| split.solid_of(from));
    let mut cap = Vec::new();
    for border in border.chunk_by(|a, b| split.solid_of(a[0]) == split.solid_of(b[0])) {
        let border = Border::new(border, |r| plane.point(&split.position(r)));
        match border.convex_loop() {
            Some(corners) => {
                let fan = corners.windows(2).skip(1).map(|pair| [corners[0], pair[0], pair[1]]);
                cap.extend(fan);
            }
            None => cap.extend(border.filled()),
        }
    }
    cap
}
