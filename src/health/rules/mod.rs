pub(crate) mod cel;
