internal import EntitlementClient
internal import Foundation
internal import LoadTool
internal import SamlResponder
internal import TextEncodings

/// A TV gets a code and polls, and a person signs in with the code on a second screen. The TV polls and fetches its session (rest-v1 §4.2).
///
/// The tool plays the TV, the browser and the MVPD: see `PlayedMvpd`.
class SecondScreenScript: GatewayScript {
    class var steps: [String] { ["registration code", "poll in vain", "authenticate", "SAML response", "poll", "session"] }
    let setup: GatewaySetup
    /// The MVPD's answer is looked for this often while it is signed.
    static let signaturePause: Nanoseconds = 250_000

    init(_ setup: GatewaySetup) { self.setup = setup }

    private enum Place {
        static let (code, vain, authenticate, sign, response, poll, session) = (1, 2, 3, 4, 5, 6, 7)
    }

    func begin(_ visit: Visit) -> Step {
        visit.place = Place.code
        return visit.call(0, codeRequest(visit), wantsAnswer: true)
    }

    // MARK: - What an API has of its own

    func codeRequest(_ visit: Visit) -> [UInt8] {
        let path = "/reggie/v1/\(FormEncoding.encode(setup.calls.requestor))/regcode"
        let form = FormEncoding.encode([("deviceId", visit.newDevice(setup.run))])
        return setup.calls.post(path, setup.client(of: visit), form: form)
    }

    func poll(_ visit: Visit) -> [UInt8] {
        setup.calls.get("/api/v1/checkauthn?\(setup.calls.device(visit.newDevice(setup.run)))", setup.client(of: visit))
    }

    /// A poll in vain is answered in this way, where that is no success.
    var vainCodes: [String] { ["http_403"] }

    /// True when an answer's body says if somebody is signed in.
    var readsPolls: Bool { false }

    /// - Returns: True when a poll that was answered found somebody.
    func isSignedIn(_ answer: Answer) -> Bool { true }

    func address(_ visit: Visit) -> String {
        let query = FormEncoding.encode([
            ("reg_code", visit.code), ("requestor_id", setup.calls.requestor), ("mso_id", setup.mvpdID), ("domain_name", setup.domain),
            ("noflash", "true"), ("no_iframe", "true"), ("redirect_url", "\(setup.gateway)/activate/done?code=\(visit.code)"),
        ])
        return "/api/v1/authenticate?\(query)"
    }

    /// The last request of a TV that has found somebody.
    func last(_ visit: Visit) -> [UInt8] {
        setup.calls.get("/api/v1/tokens/authn?\(setup.calls.device(visit.newDevice(setup.run)))", setup.client(of: visit))
    }

    // MARK: - What all have

    func proceed(_ visit: Visit, _ answer: Answer) -> Step {
        switch visit.place {
        case Place.code:
            guard let code = answer.text("code") else { return .failed(code: "unexpected_answer", message: "no registration code in the answer") }
            visit.code = code
            visit.place = Place.vain
            return visit.call(1, poll(visit), tolerates: vainCodes)
        case Place.vain:
            visit.place = Place.authenticate
            return visit.call(2, setup.calls.browse(address(visit)), wantsAnswer: true)
        case Place.authenticate: return take(answer, visit)
        case Place.sign: return respond(visit)
        case Place.response:
            visit.place = Place.poll
            return visit.call(4, poll(visit), wantsAnswer: readsPolls)
        case Place.poll:
            guard isSignedIn(answer) else { return .failed(code: "unexpected_answer", message: "nobody is signed in after the MVPD's answer") }
            visit.place = Place.session
            return visit.call(5, last(visit))
        default: return .done
        }
    }

    /// The redirect to the MVPD: takes the request from the address, and has an answer to it signed on another thread.
    private func take(_ answer: Answer, _ visit: Visit) -> Step {
        guard let location = answer.header("location"), let query = URLComponents(string: location)?.queryItems,
            let request = query.first(where: { $0.name == "SAMLRequest" })?.value,
            let facts = AuthnRequestFacts(redirect: request.replacing(" ", with: "+"))
        else { return .failed(code: "unexpected_answer", message: "no sign-in request in the redirect to the MVPD") }
        visit.keepCookies(answer)
        visit.relayState = query.first { $0.name == "RelayState" }?.value ?? ""
        visit.consumer = URLComponents(string: facts.assertionConsumerService)?.path ?? "/"
        visit.signed = setup.sign(facts, for: visit)
        visit.place = Place.sign
        return .pause(Self.signaturePause)
    }

    private func respond(_ visit: Visit) -> Step {
        switch visit.signed?.state {
        case .pending: return .pause(Self.signaturePause)
        case .ready(let response):
            visit.signed = nil
            visit.place = Place.response
            let encoded = Data(response.utf8).base64EncodedString()
            let form = FormEncoding.encode([("SAMLResponse", encoded), ("RelayState", visit.relayState)])
            return visit.call(3, setup.calls.submit(visit.consumer, cookies: visit.cookies, form: form))
        case .failed(let reason): return .failed(code: "unexpected_answer", message: "the MVPD's answer could not be signed: \(reason)")
        case nil: return .done
        }
    }
}

/// A device with platform single sign-on: a profile request, the exchange of the MVPD's signed answer for a session, the session (rest-v1 §4.4).
class TokenExchangeScript: GatewayScript {
    class var steps: [String] { ["profile request", "token exchange", "session of the platform"] }
    let setup: GatewaySetup

    init(_ setup: GatewaySetup) { self.setup = setup }

    // MARK: - What an API has of its own

    func request(_ visit: Visit) -> [UInt8] {
        let (requestor, mvpd) = (FormEncoding.encode(setup.calls.requestor), FormEncoding.encode(setup.mvpdID))
        return setup.calls.get("/api/v1/\(requestor)/profile-requests/\(mvpd)?deviceType=tvOS", setup.client(of: visit))
    }

    /// The sign-in request in the answer, Base64.
    func profileRequest(_ answer: Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    /// - Parameter response: The MVPD's, Base64.
    func exchange(_ visit: Visit, _ response: String) -> [UInt8] {
        let form = setup.calls.device(
            visit.newDevice(setup.run), [("mvpd", setup.mvpdID), ("deviceType", "tvOS"), ("SAMLResponse", response)])
        return setup.calls.post("/api/v1/tokens/authn", setup.client(of: visit), form: form)
    }

    func session(_ visit: Visit) -> [UInt8] {
        setup.calls.get("/api/v1/tokens/authn?\(setup.calls.device(visit.newDevice(setup.run)))", setup.client(of: visit))
    }

    // MARK: - What all have

    private enum Place {
        static let (request, sign, exchange, session) = (1, 2, 3, 4)
    }

    func begin(_ visit: Visit) -> Step {
        visit.place = Place.request
        return visit.call(0, request(visit), wantsAnswer: true)
    }

    func proceed(_ visit: Visit, _ answer: Answer) -> Step {
        switch visit.place {
        case Place.request:
            guard let facts = AuthnRequestFacts(profileRequest: profileRequest(answer)) else {
                return .failed(code: "unexpected_answer", message: "the profile request holds no sign-in request")
            }
            visit.signed = setup.sign(facts, for: visit)
            visit.place = Place.sign
            return .pause(SecondScreenScript.signaturePause)
        case Place.sign: return exchange(visit)
        case Place.exchange:
            visit.place = Place.session
            return visit.call(2, session(visit))
        default: return .done
        }
    }

    private func exchange(_ visit: Visit) -> Step {
        switch visit.signed?.state {
        case .pending: return .pause(SecondScreenScript.signaturePause)
        case .ready(let response):
            visit.signed = nil
            visit.place = Place.exchange
            return visit.call(1, exchange(visit, PlatformAnswerText.encoded(response)))
        case .failed(let reason): return .failed(code: "unexpected_answer", message: "the MVPD's answer could not be signed: \(reason)")
        case nil: return .done
        }
    }
}
