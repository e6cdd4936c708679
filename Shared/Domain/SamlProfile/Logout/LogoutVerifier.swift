public import Clocks

/// The checks of logout messages (mvpd §2.7): octets in, verdict out. It holds no state and may be used from any thread.
public struct LogoutVerifier: Sendable {
    public init() {}

    /// Checks an MVPD's request to end a session.
    /// - Parameters:
    ///   - message: The message as it arrived.
    ///   - expected: The demands of the endpoint's record.
    ///   - now: The time of day.
    /// - Throws: The reason for which the request must not be carried out.
    public func request(
        _ message: UnverifiedLogout, expecting expected: ExpectedLogout, at now: Timestamp
    ) throws(SamlRejection) -> VerifiedLogoutRequest {
        var verification = LogoutVerification(expecting: expected, at: now)
        return try verification.request(message)
    }

    /// Checks an MVPD's answer to a logout request of ours.
    /// - Parameters:
    ///   - message: The message as it arrived.
    ///   - requestID: `ID` of the request that is waiting for the answer.
    ///   - expected: The demands of the endpoint's record.
    ///   - now: The time of day.
    /// - Throws: The reason for which the answer does not count.
    public func answer(
        _ message: UnverifiedLogout, to requestID: String, expecting expected: ExpectedLogout, at now: Timestamp
    ) throws(SamlRejection) -> LogoutAnswer {
        var verification = LogoutVerification(expecting: expected, at: now)
        return try verification.answer(message, to: requestID)
    }
}
