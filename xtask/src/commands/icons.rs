//! `cargo xtask icons`: draws every PNG in `icons/`, and the Windows and macOS files, from their SVG sources.
//!
//! The results are kept in the repository, so that nobody needs the renderer to build: only who changes a drawing does.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use crate::packages::{self, SVG_RENDERER};
use crate::project;
use crate::shell::command;

/// One drawing a state of the tray.
const STATES: [&str; 5] = ["quiet", "blocked", "needs-you", "paused", "not-protecting"];

/// A style sheet each: for panels, light and dark alike, and the bare shape that macOS colours itself.
const SHADES: [&str; 2] = ["panel", "template"];

/// Trays are 22 or 24 pixels high; fine screens get twice that.
const TRAY: [u32; 3] = [22, 24, 44];

/// What desktops on Linux ask for.
const APP: [u32; 5] = [32, 64, 128, 256, 512];

/// What Windows asks for.
const ICO: [u32; 6] = [16, 24, 32, 48, 64, 256];

/// What macOS asks for, by the names that its format gives the sizes; the last four are for screens of double density.
const ICNS: [(&[u8; 4], u32); 8] = [
    (b"ic07", 128),
    (b"ic08", 256),
    (b"ic09", 512),
    (b"ic10", 1024),
    (b"ic11", 32),
    (b"ic12", 64),
    (b"ic13", 256),
    (b"ic14", 512),
];

pub(super) fn run(rest: &[String]) -> Result<bool> {
    ensure!(rest.is_empty(), "`cargo xtask icons` takes no words");
    packages::ensure(&[SVG_RENDERER])?;
    let icons = project::root().join("icons");
    for state in STATES {
        for shade in SHADES {
            for size in TRAY {
                let folder = icons.join("tray");
                let png = render(
                    &folder.join(format!("{state}.svg")),
                    size,
                    Some(&folder.join(format!("{shade}.css"))),
                )?;
                write(&folder.join(format!("{state}-{shade}-{size}.png")), &png)?;
            }
        }
    }
    for size in APP {
        write(&icons.join(format!("app-{size}.png")), &app(&icons, size)?)?;
    }
    let layers = ICO.iter().map(|size| Ok((*size, app(&icons, *size)?))).collect::<Result<Vec<_>>>()?;
    write(&icons.join("icon.ico"), &ico(&layers))?;
    let layers =
        ICNS.iter().map(|(name, size)| Ok((*name, app(&icons, *size)?))).collect::<Result<Vec<_>>>()?;
    write(&icons.join("icon.icns"), &icns(&layers))?;
    Ok(true)
}

/// The app's icon. Small ones have drawings of their own, because fine bars turn to mud.
fn app(icons: &Path, size: u32) -> Result<Vec<u8>> {
    let drawing = match size {
        0..32 => "app-16.svg",
        32..128 => "app-32.svg",
        _ => "app.svg",
    };
    render(&icons.join(drawing), size, None)
}

fn render(drawing: &Path, size: u32, style: Option<&Path>) -> Result<Vec<u8>> {
    let size = size.to_string();
    let mut renderer = command("rsvg-convert", &["--width", &size, "--height", &size]);
    if let Some(style) = style {
        renderer.arg("--stylesheet").arg(style);
    }
    let said = renderer.arg(drawing).output().context("cannot start rsvg-convert")?;
    let words = String::from_utf8_lossy(&said.stderr);
    ensure!(said.status.success(), "{} cannot be drawn: {}", drawing.display(), words.trim());
    Ok(said.stdout)
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    fs::write(path, bytes).with_context(|| format!("cannot write {}", path.display()))?;
    println!("{:>7} bytes  {}", bytes.len(), path.strip_prefix(project::root()).unwrap_or(path).display());
    Ok(())
}

/// A Windows icon: a table of contents, then the PNGs.
fn ico(layers: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let count = u16::try_from(layers.len()).unwrap_or(u16::MAX);
    let mut file = [0_u16, 1, count].map(u16::to_le_bytes).concat();
    let mut offset = u32::from(6 + 16 * count);
    for (size, png) in layers {
        // 256 does not fit into the byte that it has; nought stands for it.
        let side = u8::try_from(*size).unwrap_or(0);
        file.extend([side, side, 0, 0]);
        file.extend([1_u16, 32].map(u16::to_le_bytes).concat());
        file.extend([length(png), offset].map(u32::to_le_bytes).concat());
        offset += length(png);
    }
    layers.iter().for_each(|(_, png)| file.extend(png));
    file
}

/// A macOS icon: each PNG behind its name and the length of both.
fn icns(layers: &[(&[u8; 4], Vec<u8>)]) -> Vec<u8> {
    let all: u32 = layers.iter().map(|(_, png)| 8 + length(png)).sum();
    let mut file = [&b"icns"[..], &(8 + all).to_be_bytes()].concat();
    for (name, png) in layers {
        file.extend(*name);
        file.extend((8 + length(png)).to_be_bytes());
        file.extend(png);
    }
    file
}

fn length(png: &[u8]) -> u32 {
    u32::try_from(png.len()).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a failed step is a failed test")]

    use super::*;

    fn word(file: &[u8], at: usize) -> usize {
        u32::from_le_bytes(file[at..at + 4].try_into().unwrap()) as usize
    }

    #[test]
    fn every_layer_of_a_windows_icon_is_where_its_table_says() {
        let layers = [(16, b"small".to_vec()), (256, b"the large one".to_vec())];
        let file = ico(&layers);
        for (index, (_, png)) in layers.iter().enumerate() {
            let entry = 6 + 16 * index;
            let (long, offset) = (word(&file, entry + 8), word(&file, entry + 12));
            assert_eq!(&file[offset..offset + long], png);
        }
        assert_eq!((file[6], file[22]), (16, 0), "256 is written as nought");
    }

    #[test]
    fn a_mac_icon_is_as_long_as_it_says() {
        let file = icns(&[(b"ic07", b"one".to_vec()), (b"ic08", b"the other".to_vec())]);
        assert_eq!(u32::from_be_bytes(file[4..8].try_into().unwrap()) as usize, file.len());
        assert_eq!(&file[8..12], b"ic07");
        assert_eq!(&file[16..19], b"one");
    }

    /// The app embeds these; a drawing without its picture would be found only by the compiler of the window.
    #[test]
    fn every_picture_of_the_tray_is_there() {
        for state in STATES {
            for shade in SHADES {
                for size in TRAY {
                    let path = project::root().join(format!("icons/tray/{state}-{shade}-{size}.png"));
                    let png = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
                    let width = u32::from_be_bytes(png[16..20].try_into().unwrap());
                    assert_eq!(width, size, "{}", path.display());
                }
            }
        }
    }
}
