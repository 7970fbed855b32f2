//! How the interpreter handles a [`View`]: as a list or as a map of its own.

use cel::{
    ExecutionError,
    common::{
        traits::{Container, Indexer, Iterable, Iterator as Walk, Sizer},
        types::{CelInt, CelString, CelUInt, INT_TYPE, Kind, LIST_TYPE, MAP_TYPE, STRING_TYPE, Type},
        value::{CowVal, Val},
    },
};

use super::view::{View, What, value};

impl Val for View<'_> {
    fn get_type(&self) -> &Type {
        if self.is_list() { &LIST_TYPE } else { &MAP_TYPE }
    }

    fn cel_type() -> &'static Type {
        &MAP_TYPE
    }

    fn as_container(&self) -> Option<&dyn Container> {
        Some(self)
    }

    fn as_indexer<'b, 'v>(&'b self) -> Option<&'b (dyn Indexer + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_iterable<'b, 'v>(&'b self) -> Option<&'b (dyn Iterable + 'v)>
    where
        Self: 'v,
    {
        Some(self)
    }

    fn as_sizer(&self) -> Option<&dyn Sizer> {
        Some(self)
    }

    fn equals(&self, other: &dyn Val) -> bool {
        let same_size = |sizer: &dyn Sizer| usize::try_from(*sizer.size().inner()) == Ok(self.len());
        if other.get_type().kind() != self.get_type().kind() || !other.as_sizer().is_some_and(same_size) {
            return false;
        }
        if self.meter.spend(self.len()).is_err() {
            return false;
        }
        if self.is_list() {
            let Some(other) = other.as_iterable() else { return false };
            let mut others = other.iter();
            return self.entries().iter().all(|item| others.next().is_some_and(|other| item.equals(other)));
        }
        let Some(other) = other.as_indexer() else { return false };
        let same = |key: &str| match (self.field(key), other.get(&CelString::from(key))) {
            (Ok(Some(mine)), Ok(theirs)) => mine.equals(&*theirs),
            (Ok(None), Err(_)) => true,
            _ => false,
        };
        self.keys().into_iter().all(same)
    }

    fn clone_as_boxed<'v>(&self) -> Box<dyn Val + 'v>
    where
        Self: 'v,
    {
        View::boxed(self.what, self.meter)
    }
}

impl Container for View<'_> {
    fn contains(&self, value: &dyn Val) -> Result<bool, ExecutionError> {
        if self.is_list() {
            self.meter.spend(self.len())?;
            return Ok(self.entries().iter().any(|item| item.equals(value)));
        }
        self.meter.spend(1)?;
        Ok(self.has(key(value)?))
    }
}

impl Indexer for View<'_> {
    fn get<'b, 'v>(&'b self, index: &dyn Val) -> Result<CowVal<'b, 'v>, ExecutionError>
    where
        Self: 'v,
    {
        if let What::List(items) = self.what {
            let position = position(index)?;
            return match usize::try_from(position).ok().and_then(|position| items.get(position)) {
                Some(item) => Ok(CowVal::Owned(value(item, self.meter)?)),
                None => Err(ExecutionError::IndexOutOfBounds(position.into())),
            };
        }
        let key = key(index)?;
        self.field(key)?.map(CowVal::Owned).ok_or_else(|| ExecutionError::no_such_key(key))
    }

    fn steal<'v>(self: Box<Self>, index: &dyn Val) -> Result<Box<dyn Val + 'v>, ExecutionError>
    where
        Self: 'v,
    {
        self.get(index).map(CowVal::into_owned)
    }
}

impl Iterable for View<'_> {
    fn iter<'b, 'v>(&'b self) -> Box<dyn Walk<'b, 'v> + 'b>
    where
        Self: 'v,
    {
        Box::new(Each(self.entries().iter()))
    }
}

impl Sizer for View<'_> {
    fn size(&self) -> CelInt {
        i64::try_from(self.len()).unwrap_or(i64::MAX).into()
    }
}

/// Goes through the entries of a [`View`].
struct Each<'b, 'a>(std::slice::Iter<'b, Box<dyn Val + 'a>>);

impl<'b, 'a: 'v, 'v> Walk<'b, 'v> for Each<'b, 'a> {
    fn next(&mut self) -> Option<&'b (dyn Val + 'v)> {
        self.0.next().map(|entry| &**entry as &(dyn Val + 'v))
    }
}

fn key(value: &dyn Val) -> Result<&str, ExecutionError> {
    value.downcast_ref::<CelString>().map(CelString::inner).ok_or_else(|| unexpected(value, &STRING_TYPE))
}

fn position(value: &dyn Val) -> Result<i64, ExecutionError> {
    match value.get_type().kind() {
        Kind::Int => value.downcast_ref::<CelInt>().map(|int| *int.inner()),
        Kind::UInt => value.downcast_ref::<CelUInt>().and_then(|large| i64::try_from(*large.inner()).ok()),
        _ => None,
    }
    .ok_or_else(|| unexpected(value, &INT_TYPE))
}

fn unexpected(value: &dyn Val, want: &Type) -> ExecutionError {
    ExecutionError::UnexpectedType { got: value.get_type().name().to_owned(), want: want.name().to_owned() }
}
