internal import Hummingbird

/// Finds the endpoint of a call, and writes refusals.
struct UpstreamEndpoints: Sendable {
    let memory: UpstreamMemory
    let registration: RegistrationEndpoint
    let accessTokens: AccessTokenEndpoint
    let making: ProfileMaking
    let browser: BrowserEndpoint
    let decisions: UpstreamDecisionEndpoint
    let logouts: LogoutEndpoint

    func answer(_ call: UpstreamCall) throws -> UpstreamAnswer {
        let isAllowed = call.operation.isForBrowsers || memory.access { state in state.throttle.take(call, state.behaviour.throttle) }
        // Without an enhanced error (rest-v2 §1.4).
        guard isAllowed else { return Self.tooMany }
        do {
            return try handler(of: call.operation)(call)
        } catch let refusal as UpstreamRefusal {
            return call.operation.isForBrowsers ? page(refusal) : try refusal.answer()
        } catch let gone as GoneClient {
            return try gone.answer()
        }
    }

    private func handler(of operation: UpstreamOperation) -> (UpstreamCall) throws -> UpstreamAnswer {
        switch operation {
        case .register: registration.answer
        case .token: accessTokens.answer
        case .configuration: ConfigurationEndpoint(memory: memory).answer
        case .createSession: SessionEndpoint(memory: memory).create
        case .resumeSession: SessionEndpoint(memory: memory).resume
        case .readSession: SessionReadEndpoint(memory: memory).answer
        case .authenticate: browser.authenticate
        case .signIn: browser.signIn
        case .mvpdLogout: browser.mvpdLogout
        case .profiles: ProfileEndpoint(memory: memory).all
        case .profile: ProfileEndpoint(memory: memory).one
        case .profileByCode: ProfileEndpoint(memory: memory).byCode
        case .authorize, .preauthorize: decisions.answer
        case .logout: logouts.answer
        case .partnerSession: PartnerEndpoint(memory: memory, making: making).session
        case .partnerProfile: PartnerEndpoint(memory: memory, making: making).profile
        case .resetTempPass: TempPassResetEndpoint(memory: memory).byDevice
        case .resetTempPassByIdentity: TempPassResetEndpoint(memory: memory).byIdentity
        }
    }

    /// A refusal that a person sees (rest-v2 §2.5).
    private func page(_ refusal: UpstreamRefusal) -> UpstreamAnswer {
        let problem = refusal.problem
        let values = ["mvpd": "Upstream", "initial": "U", "code": problem.code, "explanation": problem.details ?? problem.message]
        return .html(browser.pages.text("error", values), status: problem.status, outcome: problem.code)
    }

    private static let tooMany = UpstreamAnswer(
        status: 429, headers: [.contentType: "text/html", .retryAfter: "1"], body: Array("<html><body>Too Many Requests</body></html>".utf8),
        outcome: "throttled")
}
