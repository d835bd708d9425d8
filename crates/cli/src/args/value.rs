//! Values of options that several commands share.

pub(super) fn positive(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|x: &f64| *x > 0.0 && x.is_finite());
    number.ok_or_else(|| "give a positive number".to_owned())
}

pub(super) fn vector(text: &str) -> Result<[f64; 3], String> {
    const MAX: f64 = 1e9;
    let numbers: Option<Vec<f64>> = text.split(',').map(|n| n.trim().parse().ok()).collect();
    let numbers: Option<[f64; 3]> = numbers.and_then(|numbers| numbers.try_into().ok());
    let numbers = numbers.ok_or_else(|| "give three numbers, as in 0,0.5,-1".to_owned())?;
    let is_near = numbers.iter().all(|x| x.abs() <= MAX);
    is_near.then_some(numbers).ok_or_else(|| format!("give numbers of at most {MAX:e}"))
}

pub(super) fn size(text: &str) -> Result<[usize; 2], String> {
    let side = |n: &str| n.parse().ok().filter(|pixels| (16..=4096).contains(pixels));
    let sides = text.split_once('x').and_then(|(w, h)| Some([side(w)?, side(h)?]));
    sides.ok_or_else(|| "give width and height between 16 and 4096, as in 960x540".to_owned())
}
