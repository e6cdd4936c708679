/// The whole state of the stand-in upstream, changed as one value.
struct UpstreamState: Sendable {
    var catalogue = UpstreamCatalogue.demo
    var behaviour = UpstreamBehaviour()
    var registry = ClientRegistry()
    var throttle = UpstreamThrottle()
    var sessions = UpstreamSessions()
    var profiles = UpstreamProfiles()
    var trials = TempPassTrials()
    var permits = UpstreamPermits()
    var rules: [DegradationRule] = []
    var scripted: [ScriptedDecision] = []
    var identities = SsoIdentities()
    var partnerRequests = PartnerRequests()
    /// Questions to the MVPDs' decision points.
    var mvpdQuestions = 0

    init() {}
}
