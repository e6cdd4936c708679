internal import Clocks
internal import Contracts
internal import Faults
internal import UsageCounting

extension SessionAtHand {
    /// The usage dimensions of a call about a resource.
    fileprivate func dimensions(_ resource: RequestedResource, _ decision: String = "authorize", reason: String = "") -> UsageDimensions {
        var dimensions = UsageDimensions(requestor: requestor, mvpd: mvpd, device: call.device ?? DeviceInformation())
        dimensions.api = stored != nil ? .sdk : call.api == .v2 ? .restV2 : .restV1
        dimensions.applicationID = UsageDimensions.short(application)
        dimensions.clientType = UsageDimensions.short(call.deviceType)
        dimensions.channel = UsageDimensions.short(resource.channel)
        // Media RSS is a document, not an id.
        dimensions.resourceID = UsageDimensions.short(resource.mediaRss == nil ? resource.text : resource.channel)
        dimensions.decisionType = decision
        dimensions.reason = UsageDimensions.short(reason)
        if session.kind == .platform, [.ios, .tvos].contains(dimensions.platform) { dimensions.externalProvider = "Apple" }
        return dimensions
    }
}

extension AuthorizationMetrics {
    /// Counts an MVPD's decision, or the reason for its absence.
    func count(_ question: DecisionMaker.Question, _ decision: Result<MvpdDecision, Fault>, after span: Duration) {
        let milliseconds = UInt64(clamping: span.wholeMilliseconds)
        let reason: String
        switch decision {
        case .success(.permit): return usage.count(.authzSuccessful(milliseconds: milliseconds), question.session.dimensions(question.resource))
        case .success(.deny(let denial)): reason = denial.code.rawValue
        case .failure(let fault): reason = fault.code.rawValue
        }
        usage.count(.authzFailed(milliseconds: milliseconds), question.session.dimensions(question.resource, reason: reason))
    }

    /// The MVPD was spared the question.
    func countRejection(_ question: DecisionMaker.Question, _ denial: Denial) {
        usage.count(.authzRejected, question.session.dimensions(question.resource, reason: denial.code.rawValue))
    }

    func countMediaToken(_ session: SessionAtHand, _ resource: RequestedResource) { usage.count(.mediaToken, session.dimensions(resource)) }

    /// A decision that an app asked for, whoever made it.
    func counting(
        _ question: DecisionMaker.Question, _ decide: () async throws(Fault) -> DecisionMaker.Ruling
    ) async throws(Fault) -> DecisionMaker.Ruling {
        do throws(Fault) {
            let ruling = try await decide()
            usage.count(.decision(isPermit: true), question.session.dimensions(question.resource))
            return ruling
        } catch {
            usage.count(.decision(isPermit: false), question.session.dimensions(question.resource, reason: error.code.rawValue))
            throw error
        }
    }

    func count(_ answer: Preauthorization, of resources: [RequestedResource], _ session: SessionAtHand) {
        for (resource, item) in zip(resources, answer.resources) {
            let reason = item.authorized ? "" : item.refusal?.code ?? ""
            usage.count(.decision(isPermit: item.authorized), session.dimensions(resource, "preauthorize", reason: reason))
        }
    }
}
