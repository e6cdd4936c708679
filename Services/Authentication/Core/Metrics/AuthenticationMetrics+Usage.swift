internal import Contracts
internal import UsageCounting

extension DeviceInformation {
    /// With what the bearer tells beside the device, for whatever the call begins.
    func called(by client: AuthenticatedClient, _ api: ApiVersion) -> DeviceInformation {
        var device = self
        device.registeredApplication = client.application.id
        device.calledApi = api
        return device
    }
}

extension AuthenticationMetrics {
    /// What happened to the sign-in of a device.
    func count(_ event: UsageEvent, _ record: RegistrationRecord, at mvpd: MvpdID) { usage.count(event, Self.dimensions(record, at: mvpd)) }

    fileprivate static func dimensions(_ record: RegistrationRecord, at mvpd: MvpdID) -> UsageDimensions {
        var dimensions = UsageDimensions(requestor: record.requestor.text, mvpd: mvpd.text, device: record.device)
        dimensions.clientType = UsageDimensions.short(record.deviceType)
        return dimensions
    }

    /// How the sign-in at hand ended; one that goes on is not over.
    func countSignIn(_ result: String, _ reason: String) {
        guard var dimensions = signIn, result != "continued" else { return }
        guard result != "signed_in" else { return usage.count(.authnSuccessful, dimensions) }
        dimensions.reason = UsageDimensions.short(reason.isEmpty ? result : reason)
        usage.count(.authnFailed, dimensions)
    }

    /// Somebody came back from an upstream's login.
    /// - Parameter reason: Why nobody is signed in; empty: somebody is.
    func countBridgedSignIn(_ part: BridgedPart, reason: String) {
        var dimensions = UsageDimensions(requestor: part.key.requestor.text, mvpd: part.mvpd.text, device: part.device)
        usage.count(.authnPending, dimensions)
        dimensions.reason = UsageDimensions.short(reason)
        usage.count(reason.isEmpty ? .authnSuccessful : .authnFailed, dimensions)
    }

    /// A login that upstream knew already is this device's, too: a platform's token, or its own sign-in, said whose it is.
    /// - Parameter isPartner: By the sign-in of Apple's framework.
    func countTakenOver(_ part: BridgedPart, isPartner: Bool) {
        var dimensions = UsageDimensions(requestor: part.key.requestor.text, mvpd: part.mvpd.text, device: part.device)
        dimensions.ssoType = "platform"
        dimensions.externalProvider = isPartner ? "Apple" : ""
        usage.count(.sso, dimensions)
    }

    /// A platform's sign-in was enough: nobody was sent anywhere.
    func countPlatformSignIn(_ attempt: PlatformExchanger.Attempt) {
        var dimensions = UsageDimensions(
            requestor: attempt.caller.requestor.text, mvpd: attempt.mvpd.text, device: attempt.caller.information)
        dimensions.clientType = UsageDimensions.short(attempt.caller.deviceType)
        dimensions.ssoType = "platform"
        dimensions.externalProvider = [.ios, .tvos].contains(attempt.platform) ? "Apple" : ""
        usage.count(.sso, dimensions)
    }
}

extension SignInLog {
    /// Somebody came back from the MVPD, with whatever answer.
    /// - Parameter record: Of the code that the sign-in is for, as far as it lives.
    mutating func personReturned(_ pending: PendingSignIn, _ record: RegistrationRecord?) {
        var dimensions = UsageDimensions(requestor: pending.requestor.text, mvpd: pending.mvpd.text, device: DeviceInformation())
        if let record, record.id == pending.record { dimensions = AuthenticationMetrics.dimensions(record, at: pending.mvpd) }
        metrics.usage.count(.authnPending, dimensions)
        metrics.signIn = dimensions
    }
}
