internal import Faults
internal import OutboundHttp

/// Apple's refusals (apple §2.11).
enum AppleIDError: String, Sendable {
    case invalidRequest = "invalid_request"
    case invalidClient = "invalid_client"
    case invalidGrant = "invalid_grant"
    case unauthorizedClient = "unauthorized_client"
    case unsupportedGrantType = "unsupported_grant_type"
    case invalidScope = "invalid_scope"

    /// Only status 400 with a code of the table means one; everything else says nothing about the person.
    init?(_ answer: OutboundAnswer) {
        guard answer.status == 400, let code = JSONMembers(answer.body)?.string("error") else { return nil }
        self.init(rawValue: code)
    }

    /// A person cannot help it: an operator has to look.
    var isOurMistake: Bool { self != .invalidGrant }

    var fault: Fault {
        isOurMistake
            ? Fault(.appleRequestInvalid, "Apple refuses the request.", cause: AppleRefusal(code: self))
            : Fault(.appleGrantInvalid, "Apple no longer accepts the sign-in; it has to be made anew.", cause: AppleRefusal(code: self))
    }
}

/// For the log.
struct AppleRefusal: Error, Sendable {
    let code: AppleIDError
}

extension Fault {
    static let appleIsAway = Fault.appleIsAway(after: .seconds(5))

    static func appleIsAway(after pause: Duration, cause: (any Error)? = nil) -> Fault {
        Fault(.appleUnavailable, "Apple does not answer.", retryAfter: pause, cause: cause)
    }
}
