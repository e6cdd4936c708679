public import Clocks

/// The assertion consumer's checks (mvpd §2.3): octets in, verdict out.
///
/// It holds no state, does no I/O, and may be used from any thread; one call takes well under a millisecond for an ordinary message. Before it, the
/// caller has resolved RelayState and cookie to the pending request (step 4). After it, the caller records `VerifiedAssertion.replayKey` and consumes
/// the request in one step (step 31).
public struct ResponseVerifier: Sendable {
    public init() {}

    /// - Parameters:
    ///   - response: The message as it arrived.
    ///   - expected: The demands of the pending request and the endpoint's record.
    ///   - now: The time of day.
    public func verify(_ response: UnverifiedResponse, expecting expected: ExpectedResponse, at now: Timestamp) -> ResponseReport {
        var verification = ResponseVerification(expecting: expected, at: now)
        return verification.report(on: response)
    }
}
