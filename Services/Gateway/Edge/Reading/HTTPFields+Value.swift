internal import HTTPTypes

extension HTTPFields {
    /// As the subscript, which copies every value that it finds, even the usual single one.
    func value(_ name: HTTPField.Name) -> String? {
        var found: String?
        for field in self where field.name == name {
            guard found == nil else { return self[name] }
            found = field.value
        }
        return found
    }
}
