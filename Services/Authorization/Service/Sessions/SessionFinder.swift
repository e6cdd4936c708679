internal import ContractRuntime
internal import Contracts
internal import Faults

/// Asks authentication for the session, on every call: a logout bites at once.
struct SessionFinder: Sendable {
    /// Longest wait for authentication.
    private static let patience: Duration = .seconds(2)

    let sessions: any Sessions

    /// - Parameters:
    ///   - mvpd: For a call of v2, which is about one.
    ///   - identity: A person's on trial there, as it was sent.
    /// - Returns: The session, or the fault that says there is none: other checks come before it (rest-v1 §2.8).
    /// - Throws: Faults of the bearer, the requestor, the device, and of the way to authentication.
    func find(
        _ call: DeviceCall?, mvpd: String = "", identity: String = "", context: CallContext
    ) async throws(Fault) -> Result<SessionAtHand, Fault> {
        let call = call ?? DeviceCall()
        do {
            let request = SessionRequest(call: call, mvpd: mvpd, identity: identity)
            let subject = try await sessions.findSession(request, context: context.child(within: Self.patience))
            return .success(try Self.session(subject, call: call))
        } catch {
            return .failure(try Self.absence(error))
        }
    }

    /// The same for the device of a registration code; a dead code is as good as a missing session (rest-v1 §3.17).
    func findByCode(_ request: PreauthorizeByCodeRequest, context: CallContext) async throws(Fault) -> Result<SessionAtHand, Fault> {
        do {
            let lookup = SessionByCodeRequest(
                accessToken: request.accessToken, requestor: request.requestor, code: request.code, signedRequest: request.signedRequest)
            let subject = try await sessions.findSessionByCode(lookup, context: context.child(within: Self.patience))
            let device = subject.device ?? DeviceInformation()
            // The person in front of the login page may be elsewhere; the device's own address is what MVPDs are told.
            let address = device.connectionIP.isEmpty ? request.clientAddress : device.connectionIP
            let call = DeviceCall(
                accessToken: request.accessToken, requestor: request.requestor, deviceID: subject.deviceID, device: device, clientAddress: address,
                userAgent: device.userAgent, signedRequest: request.signedRequest)
            return .success(try Self.session(subject, call: call))
        } catch {
            return .failure(try Self.absence(error))
        }
    }

    private static func session(_ subject: SessionSubject, call: DeviceCall) throws(Fault) -> SessionAtHand {
        guard let session = subject.session, !session.id.isEmpty, session.requestor == call.requestor else {
            throw Fault(.internal, "An internal fault occurred.", cause: DecisionPointProblem("authentication answered without a session"))
        }
        var call = call
        var stored: SessionAtHand.Stored?
        if call.storedToken != nil {
            // The token names the device; what it is made of the call may not say.
            call.deviceID = subject.deviceID
            if call.device == nil { call.device = subject.device }
            stored = SessionAtHand.Stored(sessionIndex: subject.sessionIndex, fingerprint: subject.deviceFingerprint)
        }
        return SessionAtHand(
            call: call, session: session, upstreamUserID: subject.upstreamUserID, attributes: subject.attributes,
            upstreamSessionID: subject.upstreamSessionID, application: subject.device?.registeredApplication ?? "", standsIn: subject.standsIn,
            trial: subject.trial, bridge: subject.bridge, stored: stored)
    }

    /// - Returns: The fault that says that there is no session.
    /// - Throws: Every other one.
    private static func absence(_ error: any Error) throws(Fault) -> Fault {
        let fault = Fault.unexpected(error)
        switch fault.code {
        // Whoever faces the caller has to tell a wrong code from one through which nobody has signed in yet, and tells the caller the same of both.
        case .authenticationSessionMissing, .authenticationSessionExpired, .authenticationSessionInvalidated, .invalidRegistrationCode,
            .registrationCodeSpent:
            return fault
        default: throw fault
        }
    }
}
