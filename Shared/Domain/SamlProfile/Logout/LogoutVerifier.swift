public import Clocks

/// The checks of logout messages (mvpd §2.7): octets in, verdict out. It holds no state and may be used from any thread.
public struct LogoutVerifier: Sendable {
    public init() {}

    /// - Throws: Why the request may not be obeyed.
    public func request(
        _ message: UnverifiedLogout, expecting expected: ExpectedLogout, at now: Timestamp
    ) throws(SamlRejection) -> VerifiedLogoutRequest {
        var verification = LogoutVerification(expecting: expected, at: now)
        return try verification.request(message)
    }

    /// - Parameter requestID: `ID` of the request that is waiting for the answer.
    /// - Throws: Why the answer does not count.
    public func answer(
        _ message: UnverifiedLogout, to requestID: String, expecting expected: ExpectedLogout, at now: Timestamp
    ) throws(SamlRejection) -> LogoutAnswer {
        var verification = LogoutVerification(expecting: expected, at: now)
        return try verification.answer(message, to: requestID)
    }
}
