public import Clocks

/// The checks of a decision point's answer in SOAP (mvpd §4.2): octets in, results out.
///
/// It holds no state, does no I/O, and may be used from any thread.
public struct DecisionVerifier: Sendable {
    public init() {}

    /// Checks an answer and reads its results.
    /// - Parameters:
    ///   - octets: The envelope as it arrived.
    ///   - expected: The demands of the query and the endpoint's record.
    ///   - now: The time of day.
    /// - Throws: The first check of mvpd §2.3 that failed.
    public func verify(_ octets: [UInt8], expecting expected: ExpectedDecision, at now: Timestamp) throws(SamlRejection) -> VerifiedDecision {
        var verification = ResponseVerification(expecting: expected.response(at: now), at: now)
        return try verification.run(octets, expecting: expected)
    }
}
