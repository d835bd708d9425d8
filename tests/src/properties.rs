//! Property tests that share one instance of the test runner.
//!
//! `proptest!` instantiates the runner for each test. That took about a third of the time to compile `tests/it`.

use std::fmt::{Debug, Formatter};

use proptest::strategy::{BoxedStrategy, Strategy};
use proptest::test_runner::{Config, TestCaseResult, TestRunner};

/// Declares property tests in the syntax of `proptest!`.
#[macro_export]
macro_rules! properties {
    (#![proptest_config($config:expr)] $($rest:tt)*) => {
        $crate::properties! { @tests ($config) $($rest)* }
    };
    (@tests ($config:expr) $(
        $(#[$attribute:meta])*
        fn $name:ident($($value:pat in $strategy:expr),+ $(,)?) $body:block
    )*) => {$(
        $(#[$attribute])*
        fn $name() {
            let property = $crate::properties::Property {
                name: concat!(module_path!(), "::", stringify!($name)),
                file: file!(),
                config: $config,
            };
            let values = stringify!($($value),+);
            property.check(&$crate::properties::cases(values, ($($strategy,)+), |($($value,)+)| {
                $body
                Ok(())
            }));
        }
    )*};
    ($($rest:tt)*) => {
        $crate::properties! { @tests (proptest::test_runner::Config::default()) $($rest)* }
    };
}

/// A property test.
pub struct Property {
    /// Path of the test function.
    pub name: &'static str,
    /// Its source file, beside which `proptest` records failures.
    pub file: &'static str,
    /// Number of cases and limits.
    pub config: Config,
}

impl Property {
    /// Tests `cases`.
    ///
    /// # Panics
    /// If one fails, with the minimal failing values.
    pub fn check(self, cases: &BoxedStrategy<Case>) {
        let (test_name, source_file) = (Some(self.name), Some(self.file));
        let config = Config { test_name, source_file, ..self.config };
        let mut runner = TestRunner::new(config);
        if let Err(failure) = runner.run(cases, |case| case.0.test()) {
            panic!("{failure}\n{runner}");
        }
    }
}

/// Values of a strategy with the test that they must pass.
pub struct Case(Box<dyn Test>);

impl Debug for Case {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

trait Test: Debug {
    fn test(self: Box<Self>) -> TestCaseResult;
}

/// Values with their names, and the test of a property.
struct Bound<T, F> {
    names: &'static str,
    values: T,
    test: F,
}

impl<T: Debug, F> Debug for Bound<T, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        write!(f, "({}) = {:?}", self.names, self.values)
    }
}

impl<T: Debug, F: Fn(T) -> TestCaseResult> Test for Bound<T, F> {
    fn test(self: Box<Self>) -> TestCaseResult {
        (self.test)(self.values)
    }
}

/// The `values` of a strategy, called `names`, for a `test`.
pub fn cases<S, F>(names: &'static str, values: S, test: F) -> BoxedStrategy<Case>
where
    S: Strategy<Value: 'static> + 'static,
    F: Fn(S::Value) -> TestCaseResult + Copy + 'static,
{
    values.prop_map(move |values| Case(Box::new(Bound { names, values, test }))).boxed()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    properties! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        #[should_panic(expected = "minimal failing input: (number, above) = (10, 0)")]
        fn a_failing_property_panics_with_its_minimal_values(number in 0..1000, above in 0..10) {
            prop_assert!(number < 10 || above > 9);
        }

        #[test]
        #[should_panic(expected = "minimal failing input: (number) = (10,)")]
        fn a_panic_is_a_failure(number in 0..1000) {
            assert!(number < 10);
        }
    }
}
