import Testing

extension Tag {
    /// A test that bounds a time, which a busy machine may exceed: `Tests/run` tries it once more when it fails, and no other test.
    @Tag static var timing: Self
}
