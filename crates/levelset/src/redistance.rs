//! Making a level set a signed distance again.

use crate::LevelSet;
use crate::march::{Order, march};

impl LevelSet {
    /// The signed distance to this level set's own zero surface, by fast marching (Se99) from the
    /// nodes next to it; signs do not change.
    ///
    /// Next to the surface, distance is that to the plane through the crossings of the node's grid
    /// lines. A level set without a surface comes back unchanged.
    pub fn redistanced(&self, order: Order) -> Self {
        let dims = self.grid().dims();
        let strides = [dims[1] * dims[2], dims[2], 1];
        let phi = self.as_slice();
        let mut distance = vec![f32::INFINITY; phi.len()];
        for (node, out) in distance.iter_mut().enumerate() {
            let inside = phi[node] < 0.0;
            let mut inverse_square = 0.0;
            for a in 0..3 {
                let at = node / strides[a] % dims[a];
                let low = (at > 0).then(|| phi[node - strides[a]]);
                let high = (at + 1 < dims[a]).then(|| phi[node + strides[a]]);
                let crossing = |v: &f32| {
                    let (here, there) = (f64::from(phi[node]), f64::from(*v));
                    // never zero, so that the inverse below is finite
                    ((*v < 0.0) != inside).then(|| (here / (here - there)).max(1e-6))
                };
                let nearest = low.iter().chain(&high).filter_map(crossing).reduce(f64::min);
                inverse_square += nearest.map_or(0.0, |t| 1.0 / (t * t));
            }
            if inverse_square > 0.0 {
                *out = (1.0 / inverse_square.sqrt()) as f32;
            }
        }
        if distance.iter().all(|d| d.is_infinite()) {
            return self.clone();
        }
        march(&mut distance, dims, order);
        let h = self.grid().spacing();
        let mut values = self.values().clone();
        for (value, distance) in values.iter_mut().zip(distance) {
            let d = (f64::from(distance) * h) as f32;
            *value = if *value < 0.0 { -d } else { d };
        }
        Self::from_values(*self.grid(), values)
    }
}
