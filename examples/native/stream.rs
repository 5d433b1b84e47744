//! Test a model on a stream, then teach it, sample by sample; save it at the end.
//!
//!     stream MODEL SAVED < rows
//!
//! A line has the label of a sample and its features, with spaces between.

use std::ffi::{c_char, c_double, c_int, CStr, CString};
use std::io::{self, BufRead};

#[repr(C)]
struct Raw {
    _private: [u8; 0],
}

#[link(name = "onlinekern")]
extern "C" {
    fn okn_open(path: *const c_char, out: *mut *mut Raw) -> c_int;
    fn okn_close(model: *mut Raw);
    fn okn_error(model: *const Raw) -> *const c_char;
    fn okn_n_features(model: *const Raw) -> i32;
    fn okn_n_classes(model: *const Raw) -> i32;
    fn okn_label(model: *const Raw, number: i32) -> *const c_char;
    fn okn_predict(model: *mut Raw, x: *const c_double) -> i32;
    fn okn_learn(model: *mut Raw, x: *const c_double, y: c_double) -> c_int;
    fn okn_save(model: *mut Raw, path: *const c_char) -> c_int;
}

/// A classifier. It may move to another thread, but two must not use it at once.
struct Model {
    raw: *mut Raw,
    labels: Vec<String>,
}

unsafe impl Send for Model {}

impl Model {
    fn open(path: &str) -> Result<Model, String> {
        let name = CString::new(path).map_err(|error| error.to_string())?;
        let mut model = Model {
            raw: std::ptr::null_mut(),
            labels: Vec::new(),
        };
        let status = unsafe { okn_open(name.as_ptr(), &mut model.raw) };
        model.checked(status)?;
        for number in 0..unsafe { okn_n_classes(model.raw) } {
            let label = unsafe { CStr::from_ptr(okn_label(model.raw, number)) };
            model.labels.push(label.to_string_lossy().into_owned());
        }
        Ok(model)
    }

    fn checked(&self, status: c_int) -> Result<c_int, String> {
        if status >= 0 {
            return Ok(status);
        }
        Err(unsafe { CStr::from_ptr(okn_error(self.raw)) }
            .to_string_lossy()
            .into_owned())
    }

    /// The features of a row; an error if there are more or fewer than those of the model.
    fn row<'a>(&self, x: &'a [f64]) -> Result<&'a [f64], String> {
        let n = unsafe { okn_n_features(self.raw) };
        if x.len() == n as usize {
            Ok(x)
        } else {
            Err(format!("a row has {} features, not {n}", x.len()))
        }
    }

    fn predict(&mut self, x: &[f64]) -> Result<&str, String> {
        let number = unsafe { okn_predict(self.raw, self.row(x)?.as_ptr()) };
        Ok(&self.labels[self.checked(number)? as usize])
    }

    fn learn(&mut self, x: &[f64], label: &str) -> Result<(), String> {
        let number = self.labels.iter().position(|own| own == label);
        let y = number.ok_or_else(|| format!("no class is {label:?}"))? as f64;
        self.checked(unsafe { okn_learn(self.raw, self.row(x)?.as_ptr(), y) })
            .map(|_| ())
    }

    fn save(&mut self, path: &str) -> Result<(), String> {
        let name = CString::new(path).map_err(|error| error.to_string())?;
        self.checked(unsafe { okn_save(self.raw, name.as_ptr()) })
            .map(|_| ())
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        unsafe { okn_close(self.raw) }
    }
}

fn run(path: &str, saved: &str) -> Result<(), String> {
    let mut model = Model::open(path)?;
    let (mut wrong, mut n) = (0, 0);
    for line in io::stdin().lock().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let mut words = line.split_whitespace();
        let label = words.next().ok_or("an empty line")?;
        let x: Result<Vec<f64>, _> = words.map(str::parse).collect();
        let x = x.map_err(|error| error.to_string())?;
        wrong += (model.predict(&x)? != label) as usize;
        model.learn(&x, label)?;
        n += 1;
    }
    println!("{wrong} of {n} wrong");
    model.save(saved)
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    if arguments.len() != 3 {
        eprintln!("stream MODEL SAVED < rows");
        std::process::exit(2);
    }
    if let Err(error) = run(&arguments[1], &arguments[2]) {
        eprintln!("{}: {error}", arguments[1]);
        std::process::exit(1);
    }
}
