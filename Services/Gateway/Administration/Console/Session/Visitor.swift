internal import Contracts

/// Who is signed in.
struct Visitor: Sendable {
    /// The session's secret, which stands for the bearer that opened it.
    let secret: String
    let administrator: Administrator

    var isOperator: Bool { administrator.role == .operator }

    /// What is not offered here is refused by config all the same (dashboard #1).
    var mayEdit: Bool { administrator.role == .operator || administrator.role == .editor }

    var formToken: FormToken { FormToken(secret: secret, purpose: "console") }
}
