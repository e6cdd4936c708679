internal import Contracts
internal import Faults
internal import Hummingbird

/// Answers of the vendor's own calls: always XML, with a root `result` (clients §3).
enum SdkReply {
    static func result(_ members: [Document.Member]) -> Response { Response(Document("result", members), format: .xml) }

    /// The app is to forget the token that it keeps, and to sign in again.
    static var pendingLogout: Response { result([.init("pendingLogout", .object([]))]) }

    static func userMetadata(_ metadata: UserMetadata) -> Document.Member {
        .init("userMeta", .text(String(decoding: JSONWriter.write(MetadataEndpoint.document(metadata)), as: UTF8.self)))
    }

    /// What a fault is to an app that keeps tokens.
    /// - Throws: A fault that is no answer of this kind.
    static func answer(to error: any Error) throws -> Response {
        guard let fault = error as? Fault else { throw error }
        if over.contains(fault.code) { return pendingLogout }
        guard denials.contains(fault.code) else { throw fault }
        let details = [fault.details ?? "", fault.message].first { !$0.isEmpty } ?? "User not authorized"
        return result([.init("error", .object([.init("notAuthorized", .object([])), .init("details", .text(details))]))])
    }

    /// The session, or the permit, is there no more.
    private static let over: Set<Fault.Code> = [
        .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated, .authorizationDeniedBySessionInvalidated,
        .authorizationNotFound, .authorizationExpired,
    ]

    /// The word of an MVPD, or of an operator in its place.
    private static let denials: Set<Fault.Code> = [
        .authorizationDeniedByMvpd, .authorizationDeniedByParentalControls, .authorizationDeniedByHbaPolicies, .authorizationDeniedByDegradationRule,
        .identityNotRecognizedByMvpd,
    ]
}
