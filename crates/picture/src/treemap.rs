//! A rectangle cut into rectangles whose areas are given, none of them thinner than it has to be: the
//! squarified treemap of Bruls, Huizing and van Wijk.

use crate::svg::Rect;

/// One rectangle for each value, in their order. Values that are not positive get none of the area. The
/// shapes are best where the largest value comes first.
pub(crate) fn squarify(values: &[f64], area: Rect) -> Vec<Rect> {
    let sum: f64 = values.iter().filter(|value| is_some(**value)).sum();
    let empty = Rect { width: 0.0, height: 0.0, ..area };
    let mut cut = vec![empty; values.len()];
    if !is_some(sum) || !is_some(area.area()) {
        return cut;
    }
    let scale = area.area() / sum;
    let sizes: Vec<(usize, f64)> = values
        .iter()
        .enumerate()
        .filter(|(_, value)| is_some(**value))
        .map(|(place, value)| (place, value * scale))
        .collect();
    let mut left = area;
    let mut rest = sizes.as_slice();
    while !rest.is_empty() {
        let side = left.width.min(left.height);
        let (row, others) = rest.split_at(row_length(rest, side));
        left = place(row, left, others.is_empty(), &mut cut);
        rest = others;
    }
    cut
}

fn is_some(value: f64) -> bool {
    value.is_finite() && value > 0.0
}

/// How many of the next sizes make a row whose worst shape is best.
fn row_length(sizes: &[(usize, f64)], side: f64) -> usize {
    let (mut sum, mut smallest, mut largest) = (0.0, f64::INFINITY, 0.0f64);
    let mut worst = f64::INFINITY;
    for (count, (_, size)) in sizes.iter().enumerate() {
        sum += size;
        smallest = size.min(smallest);
        largest = size.max(largest);
        let square = side * side;
        let ratio = (square * largest / (sum * sum)).max(sum * sum / (square * smallest));
        if ratio > worst {
            return count.max(1);
        }
        worst = ratio;
    }
    sizes.len()
}

/// Lays a row along the shorter side, and returns what is left beside it.
fn place(row: &[(usize, f64)], area: Rect, is_last: bool, cut: &mut [Rect]) -> Rect {
    let sum: f64 = row.iter().map(|(_, size)| size).sum();
    let is_wide = area.width >= area.height;
    let (along, across) =
        if is_wide { (area.height, area.width) } else { (area.width, area.height) };
    // The last row takes what is left: rounding leaves no gap.
    let thick = if is_last { across } else { (sum / along.max(f64::MIN_POSITIVE)).min(across) };
    let mut at = 0.0;
    for (place, size) in row {
        let long = along * size / sum;
        let rect = if is_wide {
            Rect { x: area.x, y: area.y + at, width: thick, height: long }
        } else {
            Rect { x: area.x + at, y: area.y, width: long, height: thick }
        };
        if let Some(one) = cut.get_mut(*place) {
            *one = rect;
        }
        at += long;
    }
    if is_wide {
        Rect { x: area.x + thick, width: area.width - thick, ..area }
    } else {
        Rect { y: area.y + thick, height: area.height - thick, ..area }
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    const AREA: Rect = Rect { x: 10.0, y: 20.0, width: 600.0, height: 300.0 };

    #[test]
    fn equal_values_are_nearly_squares() {
        let cut = squarify(&[1.0; 8], AREA);
        assert!(cut.iter().all(|it| (it.width / it.height) < 2.1 && it.height / it.width < 2.1));
    }

    #[test]
    fn what_is_nothing_gets_nothing() {
        let cut = squarify(&[0.0, -1.0, f64::NAN, f64::INFINITY], AREA);
        assert!(cut.iter().all(|rect| rect.area() == 0.0));
        assert!(squarify(&[], AREA).is_empty());
        let flat = Rect { height: 0.0, ..AREA };
        assert_eq!(squarify(&[1.0], flat)[0].area(), 0.0);
    }

    proptest! {
        #[test]
        fn areas_are_to_scale_and_nothing_overlaps(
            values in vec(prop_oneof![0.0f64..10.0, 0.0f64..1e12], 1..60)
        ) {
            let cut = squarify(&values, AREA);
            let sum: f64 = values.iter().sum();
            for (value, rect) in values.iter().zip(&cut) {
                let wanted = AREA.area() * value / sum.max(f64::MIN_POSITIVE);
                prop_assert!((rect.area() - wanted).abs() < 1e-3, "{rect:?} {wanted}");
                if rect.area() > 0.0 {
                    prop_assert!(rect.x >= AREA.x - 1e-6 && rect.x + rect.width <= AREA.x + AREA.width + 1e-6);
                    prop_assert!(rect.y >= AREA.y - 1e-6 && rect.y + rect.height <= AREA.y + AREA.height + 1e-6);
                }
            }
            for (place, a) in cut.iter().enumerate() {
                for b in cut.iter().skip(place + 1) {
                    let wide = (a.x + a.width).min(b.x + b.width) - a.x.max(b.x);
                    let high = (a.y + a.height).min(b.y + b.height) - a.y.max(b.y);
                    prop_assert!(wide <= 1e-6 || high <= 1e-6 || a.area() == 0.0 || b.area() == 0.0);
                }
            }
        }
    }
}
