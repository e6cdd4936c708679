package import Catalogue
package import Clocks
package import Contracts
package import Faults
package import Identifiers
package import SamlProfile

/// Explains a response that an engineer holds in hand. It signs nobody in, and asks no store.
package struct ResponseExplainer: Sendable {
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    /// Checks a response at a time.
    private let finding: @Sendable (HeldResponse, SamlProvider, Timestamp) -> HeldFinding

    package init(
        catalogue: any CatalogueSource, clock: any WallClock, finding: @escaping @Sendable (HeldResponse, SamlProvider, Timestamp) -> HeldFinding
    ) {
        self.catalogue = catalogue
        self.clock = clock
        self.finding = finding
    }

    /// - Throws: `invalid_request`: no message, an MVPD or requestor that is not known, or an MVPD without SAML.
    package func explain(_ request: ExplainResponseRequest) throws(Fault) -> SignInReport {
        guard !request.samlResponse.isEmpty else { throw Fault(.invalidRequest, "There is no response to explain.") }
        let catalogue = try catalogue.current()
        guard let mvpd = catalogue.mvpd(request.mvpd) else { throw Fault(.invalidRequest, "The MVPD is not known.") }
        guard request.requestor.isEmpty || catalogue.requestor(request.requestor) != nil else {
            throw Fault(.invalidRequest, "The requestor is not known.")
        }
        guard let provider = try? SamlProvider(mvpd, in: catalogue) else {
            throw Fault(.invalidRequest, "The MVPD does not sign people in by SAML.")
        }
        let held: HeldResponse
        do throws(SamlRejection) {
            held = HeldResponse(
                message: try UnverifiedResponse(encoded: request.samlResponse),
                requestID: request.requestID.isEmpty ? nil : UpstreamRequestID(request.requestID),
                requestor: request.requestor.isEmpty ? nil : RequestorID(request.requestor),
                at: request.atMilliseconds == 0 ? nil : Timestamp(milliseconds: Int64(clamping: request.atMilliseconds)))
        } catch {
            let explanation = ResponseExplanation(error, at: error.reason == .size ? .size : .base64, hint: Self.encodingHint)
            return report(HeldFinding(result: .rejected, reason: error.reason.rawValue, explanation: explanation), request, clock.now())
        }
        let at = held.at ?? held.message.claimedIssueInstant ?? clock.now()
        return report(finding(held, provider, at), request, at)
    }

    private static let encodingHint =
        "The SAMLResponse field holds standard base64 (RFC 4648 §4), with or without line breaks; spaces in it are often a plus that was not encoded."

    private func report(_ finding: HeldFinding, _ request: ExplainResponseRequest, _ at: Timestamp) -> SignInReport {
        var explanation = finding.explanation
        explanation.note(.parameters, .notChecked, "not checked: the message was not posted")
        if explanation.steps[Check.pendingRequest.step - 1].outcome == .passed {
            explanation.note(.pendingRequest, .notChecked, "not checked: no pending request")
        }
        if explanation.steps[Check.replay.step - 1].outcome == .notChecked {
            explanation.note(.replay, .notChecked, "not checked: no memory of used assertions")
        }
        if request.requestID.isEmpty, explanation.steps[Check.inResponseTo.step - 1].outcome == .passed {
            explanation.note(.inResponseTo, .notChecked, "not checked: no pending request; any InResponseTo is accepted here")
        }
        return SignInRecord(
            trace: "", endedAt: at, requestor: request.requestor, mvpd: request.mvpd, result: finding.result, reason: finding.reason,
            explanation: explanation
        ).contract()
    }
}

/// A response without the sign-in that it belongs to.
package struct HeldResponse: Sendable {
    package let message: UnverifiedResponse
    /// The request that it has to answer; nil: whichever it names.
    package let requestID: UpstreamRequestID?
    /// Nil: whichever its audience names.
    package let requestor: RequestorID?
    /// Nil: when it says that it was issued.
    package let at: Timestamp?
}
