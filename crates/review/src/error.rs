//! Why a review has no result.

use callgate_home::StoreError;

#[derive(Debug, thiserror::Error)]
pub enum ReviewError {
    #[error("the history cannot be read: {0}")]
    Store(#[from] StoreError),
    /// Whoever watched the progress said so. Half a count is worse than none.
    #[error("stopped before the end")]
    Stopped,
}
