/// An HTML form that the page must submit automatically.
public struct PostForm: Sendable {
    /// It goes here.
    public let action: String
    /// Names and values of the hidden fields, in order.
    public let fields: [(name: String, value: String)]

    init(action: String, fields: [(String, String)]) {
        self.action = action
        self.fields = fields.map { (name: $0.0, value: $0.1) }
    }
}
