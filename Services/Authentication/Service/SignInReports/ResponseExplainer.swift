internal import Catalogue
internal import Clocks
internal import Contracts
internal import Faults
internal import SamlProfile

/// Explains a response that an engineer holds in hand. It signs nobody in, and asks no store.
struct ResponseExplainer: Sendable {
    let catalogue: any CatalogueSource
    let clock: any WallClock
    /// Checks a response at a time.
    let finding: @Sendable (HeldResponse, SamlProvider, Timestamp) -> SamlFinding

    /// - Throws: `invalid_request`: no message, an MVPD or requestor that is not known, or an MVPD without SAML.
    func explain(_ request: ExplainResponseRequest) throws(Fault) -> SignInReport {
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
            return report(.rejected(error), explanation, request, clock.now())
        }
        let at = held.at ?? held.message.claimedIssueInstant ?? clock.now()
        let finding = finding(held, provider, at)
        return report(finding.verdict, finding.explanation, request, at)
    }

    private static let encodingHint =
        "The SAMLResponse field holds standard base64 (RFC 4648 §4) without line breaks; spaces in it are often a plus that was not encoded."

    private func report(
        _ verdict: SamlVerdict, _ explanation: ResponseExplanation, _ request: ExplainResponseRequest, _ at: Timestamp
    ) -> SignInReport {
        var explanation = explanation
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
        let (result, reason) = verdict.outcome
        return SignInRecord(
            trace: "", endedAt: at, requestor: request.requestor, mvpd: request.mvpd, result: result, reason: reason, explanation: explanation
        ).contract()
    }
}

/// A response without the sign-in that it belongs to.
struct HeldResponse: Sendable {
    let message: UnverifiedResponse
    /// The request that it has to answer; nil: whichever it names.
    let requestID: UpstreamRequestID?
    /// Nil: whichever its audience names.
    let requestor: RequestorID?
    /// Nil: when it says that it was issued.
    let at: Timestamp?
}

extension SamlVerdict {
    var outcome: (result: SignInResult, reason: String) {
        switch self {
        case .accepted: (.signedIn, "")
        case .declined(let codes): (.declined, codes.last ?? "")
        case .silent: (.silent, "NoPassive")
        case .misconfigured(let codes): (.rejected, codes.last ?? "")
        case .rejected(let rejection): (.rejected, rejection.reason.rawValue)
        }
    }
}
