internal import EntitlementClient
internal import Foundation
internal import LoadTool
internal import SamlResponder
internal import TextEncodings

/// A device with platform single sign-on: a profile request, the exchange of the MVPD's signed answer for a session, the session (rest-v1 §4.4).
final class TokenExchangeScript: GatewayScript {
    static let steps = ["profile request", "token exchange", "session of the platform"]
    private let ground: GatewayGround
    private let path: String

    init(_ ground: GatewayGround) {
        self.ground = ground
        let (requestor, mvpd) = (FormEncoding.encode(ground.calls.requestor), FormEncoding.encode(ground.mvpdID))
        path = "/api/v1/\(requestor)/profile-requests/\(mvpd)?deviceType=tvOS"
    }

    private enum Place {
        static let (request, sign, exchange, session) = (1, 2, 3, 4)
    }

    func begin(_ visit: Visit) -> Step {
        visit.place = Place.request
        return visit.call(0, ground.calls.get(path, ground.client(of: visit)), wantsAnswer: true)
    }

    func proceed(_ visit: Visit, _ answer: Answer) -> Step {
        switch visit.place {
        case Place.request:
            guard let facts = AuthnRequestFacts(profileRequest: String(decoding: answer.body, as: UTF8.self)) else {
                return .failed(code: "unexpected_answer", message: "the profile request holds no sign-in request")
            }
            visit.signed = ground.sign(facts, for: visit)
            visit.place = Place.sign
            return .pause(SecondScreenScript.signaturePause)
        case Place.sign: return exchange(visit)
        case Place.exchange:
            visit.place = Place.session
            let path = "/api/v1/tokens/authn?\(ground.calls.device(visit.newDevice(ground.run)))"
            return visit.call(2, ground.calls.get(path, ground.client(of: visit)))
        default: return .done
        }
    }

    private func exchange(_ visit: Visit) -> Step {
        switch visit.signed?.state {
        case .pending: return .pause(SecondScreenScript.signaturePause)
        case .ready(let response):
            visit.signed = nil
            visit.place = Place.exchange
            let form = ground.calls.device(
                visit.newDevice(ground.run),
                [("mvpd", ground.mvpdID), ("deviceType", "tvOS"), ("SAMLResponse", PlatformAnswerText.encoded(response))])
            return visit.call(1, ground.calls.post("/api/v1/tokens/authn", ground.client(of: visit), form: form))
        case .failed(let reason): return .failed(code: "unexpected_answer", message: "the MVPD's answer could not be signed: \(reason)")
        case nil: return .done
        }
    }
}
