//! How the rows of the screen are shared out: by the size and the number of GPUs alone, so that state and
//! drawing agree on where the list is.

/// The least that a picture needs.
pub const LEAST_COLUMNS: u16 = 60;
pub const LEAST_ROWS: u16 = 14;
/// Rows of a GPU that is shown with its title, its bar and what the bar means.
const FULL: u16 = 3;
/// A list with fewer rows is no use.
const LEAST_LIST: u16 = 6;
/// Header, the pond's memory, the panes' names, titles of the columns, footer.
const OTHERS: u16 = 5;

/// How GPUs are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cards {
    /// Three rows each.
    Full,
    /// One row each; so many of them, and then a row that says how many are left.
    Rows { shown: u16, left: u16 },
}

/// Where everything is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    pub alerts: u16,
    pub cards_at: u16,
    pub cards: Cards,
    pub pond_at: u16,
    pub panes_at: u16,
    pub titles_at: u16,
    pub list_at: u16,
    pub list_rows: u16,
    pub footer_at: u16,
}

impl Layout {
    /// Nothing if the screen is too small.
    pub fn new(columns: u16, rows: u16, cards: usize, alerts: usize) -> Option<Self> {
        if columns < LEAST_COLUMNS || rows < LEAST_ROWS {
            return None;
        }
        let cards = u16::try_from(cards).unwrap_or(u16::MAX);
        let alerts = u16::try_from(alerts).unwrap_or(u16::MAX).min(rows / 8);
        let room = rows.saturating_sub(OTHERS + alerts);
        let for_cards = room.saturating_sub(LEAST_LIST).min(rows / 2).max(1);
        let (cards, card_rows) = if cards.saturating_mul(FULL) <= for_cards {
            (Cards::Full, cards * FULL)
        } else if cards <= for_cards {
            (Cards::Rows { shown: cards, left: 0 }, cards)
        } else {
            let shown = for_cards.saturating_sub(1);
            (Cards::Rows { shown, left: cards.saturating_sub(shown) }, for_cards)
        };
        let cards_at = 1 + alerts;
        let pond_at = cards_at + card_rows;
        let list_at = pond_at + 3;
        let footer_at = rows - 1;
        Some(Self {
            alerts,
            cards_at,
            cards,
            pond_at,
            panes_at: pond_at + 1,
            titles_at: pond_at + 2,
            list_at,
            list_rows: footer_at.saturating_sub(list_at),
            footer_at,
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_small_terminal_has_a_list_however_many_gpus_there_are() {
        let at = |cards| Layout::new(80, 24, cards, 0).unwrap();
        assert_eq!((at(1).cards, at(1).list_rows), (Cards::Full, 16));
        assert_eq!(at(8).cards, Cards::Rows { shown: 8, left: 0 });
        assert_eq!(at(64).cards, Cards::Rows { shown: 11, left: 53 });
        assert!(at(64).list_rows >= LEAST_LIST);
        assert_eq!(Layout::new(40, 10, 1, 0), None);
    }

    proptest! {
        #[test]
        fn nothing_lies_on_something_else(
            columns: u16, rows: u16, cards in 0usize..100_000, alerts in 0usize..100
        ) {
            let Some(layout) = Layout::new(columns, rows, cards, alerts) else {
                return Ok(());
            };
            prop_assert!(layout.cards_at <= layout.pond_at);
            prop_assert!(layout.titles_at < layout.list_at);
            prop_assert!(layout.list_rows >= 1);
            prop_assert_eq!(layout.list_at + layout.list_rows, layout.footer_at);
        }
    }
}
