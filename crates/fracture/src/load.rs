//! Loads of bonds under an impact.

use levelset::Union;

use crate::Bond;
use crate::conjugate_gradient::{ConjugateGradient, dot};

/// Impulse per area of each bond when fragment `hit` receives a unit impulse, 1/m^2, if all of them
/// hold.
///
/// `masses` are those of the fragments in any unit; `fixed` ones do not move. Fragments move only
/// in the direction of the impact, and a bond resists in proportion to its area: a network of
/// springs. Each fragment keeps the share of the impulse that moves it along with all others, or
/// transmits all of it if a fragment is fixed.
///
/// # Panics
/// If `masses` and `fixed` differ in length, or `hit` or a bond has an unknown fragment.
pub fn bond_loads(masses: &[f64], fixed: &[bool], bonds: &[Bond], hit: usize) -> Vec<f64> {
    assert_eq!(masses.len(), fixed.len(), "one mass and one flag per fragment");
    let reached = reached(masses.len(), bonds, hit);
    let is_held = (0..masses.len()).any(|i| reached[i] && fixed[i]);
    let total: f64 = (0..masses.len()).filter(|&i| reached[i]).map(|i| masses[i]).sum();
    let moves: Vec<bool> = (0..masses.len()).map(|i| reached[i] && !fixed[i]).collect();
    let source = |i: usize| {
        let kept = if is_held { 0.0 } else { masses[i] / total };
        if moves[i] { f64::from(u8::from(i == hit)) - kept } else { 0.0 }
    };
    let shifts = solve(bonds, &moves, (0..masses.len()).map(source).collect());
    bonds.iter().map(|b| (shifts[b.fragments[0]] - shifts[b.fragments[1]]).abs()).collect()
}

/// The fragments that bonds connect to `from`.
fn reached(count: usize, bonds: &[Bond], from: usize) -> Vec<bool> {
    let mut sets = Union::new(count);
    bonds.iter().for_each(|bond| sets.join(bond.fragments[0] as u32, bond.fragments[1] as u32));
    let sets = sets.numbered().0;
    sets.iter().map(|set| *set == sets[from]).collect()
}

/// The displacements at which the springs balance `source`, by conjugate gradients; fixed ones are
/// 0.
fn solve(bonds: &[Bond], moves: &[bool], source: Vec<f64>) -> Vec<f64> {
    let times = |x: &[f64], y: &mut [f64]| {
        y.fill(0.0);
        for &Bond { fragments: [a, b], area, .. } in bonds {
            let pull = area * (x[a] - x[b]);
            y[a] += pull;
            y[b] -= pull;
        }
        y.iter_mut().zip(moves).filter(|(_, moves)| !**moves).for_each(|(y, _)| *y = 0.0);
    };
    let enough = 1e-20 * dot(&source, &source);
    let mut state = ConjugateGradient::new(source);
    for _ in 0..10 * moves.len() {
        state.turn();
        if state.rho <= enough {
            break;
        }
        times(&state.direction, &mut state.image);
        let curvature = dot(&state.direction, &state.image);
        if state.advance(curvature).is_none() {
            break;
        }
    }
    state.x
}

#[cfg(test)]
mod tests {
    use super::*;
    use nalgebra::Point3;

    fn bond(a: usize, b: usize, area: f64) -> Bond {
        Bond { fragments: [a, b], area, center: Point3::origin(), normal: nalgebra::Vector3::x() }
    }

    #[test]
    fn a_row_carries_what_moves_the_rest_of_it() {
        let bonds = [bond(0, 1, 2.0), bond(1, 2, 4.0)];
        // masses 1, 2, 3: the bonds transmit 5/6 and 3/6 of an impulse on the first
        let loads = bond_loads(&[1.0, 2.0, 3.0], &[false; 3], &bonds, 0);
        assert!((loads[0] - 5.0 / 6.0 / 2.0).abs() < 1e-12);
        assert!((loads[1] - 3.0 / 6.0 / 4.0).abs() < 1e-12);
        // if the last is fixed, both transmit all of it
        let loads = bond_loads(&[1.0, 2.0, 3.0], &[false, false, true], &bonds, 0);
        assert!((loads[0] - 0.5).abs() < 1e-12 && (loads[1] - 0.25).abs() < 1e-12);
    }

    #[test]
    fn two_ways_share_a_blow_by_their_stiffness_and_others_carry_nothing() {
        // bonds of areas 1 and 3 attach 0 to the fixed 1 and 2; 3 and 4 are another body
        let bonds = [bond(0, 1, 1.0), bond(0, 2, 3.0), bond(3, 4, 1.0)];
        let fixed = [false, true, true, false, false];
        let loads = bond_loads(&[1.0; 5], &fixed, &bonds, 0);
        assert!((loads[0] - 0.25).abs() < 1e-12 && (loads[1] - 0.25).abs() < 1e-12);
        assert_eq!(loads[2], 0.0);
        // fixed fragments transmit nothing
        assert_eq!(bond_loads(&[1.0; 5], &fixed, &bonds, 1), [0.0; 3]);
    }
}
