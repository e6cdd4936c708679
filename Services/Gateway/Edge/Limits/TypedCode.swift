/// A registration code as a person types it: lower case, blanks and dashes are accepted.
struct TypedCode: Hashable, Sendable {
    /// Upper-case letters and digits only; may be empty.
    let text: String

    init(_ typed: String) {
        text = String(typed.uppercased().filter { $0.isASCII && ($0.isLetter || $0.isNumber) })
    }

    /// No code is as short or as long (rest-v1 §3.4: samples have 6 and 7).
    var isPlausible: Bool { (5...16).contains(text.utf8.count) }
}
