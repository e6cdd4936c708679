internal import Clocks

/// Tells what a code stands for (rest-v2 §2.4).
struct SessionReadEndpoint: Sendable {
    let memory: UpstreamMemory

    private struct Existing: Encodable {
        let serviceProvider: String
        let mvpd: String?
        let domainName: String?
        let redirectUrl: String?
    }

    private struct Body: Encodable {
        let existingParameters: Existing
        let missingParameters: [String]?
        let device: DeviceDescription
        let notBefore: String
        let notAfter: String
    }

    func answer(_ call: UpstreamCall) throws -> UpstreamAnswer {
        let (session, behaviour) = try memory.access { state in
            let caller = try UpstreamCaller(call, state)
            return (try state.sessions.session(call.parameter("code"), of: caller.serviceProvider.id, at: call.now), state.behaviour)
        }
        let missing = session.missing(behaviour)
        let body = Body(
            existingParameters: Existing(
                serviceProvider: session.serviceProvider, mvpd: session.mvpd, domainName: session.domainName, redirectUrl: session.redirectURL),
            missingParameters: missing.isEmpty ? nil : missing, device: DeviceDescription(session.info, address: session.address),
            notBefore: String(session.notBefore.milliseconds), notAfter: String(session.notAfter.milliseconds))
        return try .json(body, outcome: "session")
    }
}
