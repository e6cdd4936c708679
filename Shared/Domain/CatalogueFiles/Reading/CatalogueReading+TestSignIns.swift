internal import Contracts
internal import StrictJson

/// Sign-ins of a test user that are tried on a schedule (Shared/Documents/Decisions/0085).
extension CatalogueReading {
    /// Seconds from one to the next.
    static let testIntervals: ClosedRange<UInt32> = 60...86_400
    /// Beside the MVPD's own.
    private static let mostOrigins = 8

    func scheduledSignIn(_ object: JsonObject, of mvpd: Mvpd) -> ScheduledSignIn? {
        guard let value = object.optional("testSignIn") else { return nil }
        let test = value.object { object in
            var test = ScheduledSignIn()
            test.requestorID = object.reference("requestor", "requestor", in: requestors)
            test.user = object.text("user")
            test.passwordReference = secretReference(object, "passwordReference", required: true)
            test.everySeconds = object.number("every", Self.testIntervals, else: Self.testIntervals.lowerBound)
            test.userField = object.text("userField", required: false)
            test.passwordField = object.text("passwordField", required: false)
            test.origins = object.texts("origins", CatalogueURL.originProblem)
            if test.origins.count > Self.mostOrigins { object.optional("origins")?.problem("must have at most \(Self.mostOrigins) origins") }
            test.paused = !object.flag("enabled", else: true)
            return test
        }
        if case .tempPass = mvpd.signIn { value.problem("has no meaning for a TempPass: nobody signs in at it") }
        if mvpd.upstreamOnly { value.problem("must not be there beside upstreamOnly") }
        if let test { scheduled.append((value, test.requestorID, mvpd.id)) }
        return test
    }

    /// The integration that a test tries may be gone: nobody is to keep one for a test's sake.
    func checkScheduled() {
        for (value, requestor, mvpd) in scheduled where requestors[requestor] != nil && !mvpd.isEmpty {
            if !integrations.contains([OctetText(requestor), OctetText(mvpd)]) {
                warn("is not tried: the requestor '\(requestor)' has no integration with '\(mvpd)'", at: value.path)
            } else if bridged.contains([OctetText(requestor), OctetText(mvpd)]) {
                warn("is not tried: an upstream signs in the viewers of the requestor '\(requestor)'", at: value.path)
            }
        }
    }
}
