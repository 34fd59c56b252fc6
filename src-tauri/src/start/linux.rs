//! Is there a display at all?

pub(super) fn check() -> Result<(), String> {
    gtk::init().map_err(|_| {
        "there is no display here (DISPLAY and WAYLAND_DISPLAY lead nowhere). `callgate watch` shows the same log in a \
         terminal."
            .to_owned()
    })
}
