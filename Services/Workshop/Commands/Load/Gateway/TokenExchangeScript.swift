internal import EntitlementClient
internal import Foundation
internal import LoadTool
internal import SamlResponder
internal import TextEncodings

/// A device with platform single sign-on: a profile request, the exchange of the MVPD's signed answer for a session, the session (rest-v1 §4.4).
class TokenExchangeScript: GatewayScript {
    class var steps: [String] { ["profile request", "token exchange", "session of the platform"] }
    let ground: GatewayGround

    init(_ ground: GatewayGround) { self.ground = ground }

    // MARK: - What an API has of its own

    func request(_ visit: Visit) -> [UInt8] {
        let (requestor, mvpd) = (FormEncoding.encode(ground.calls.requestor), FormEncoding.encode(ground.mvpdID))
        return ground.calls.get("/api/v1/\(requestor)/profile-requests/\(mvpd)?deviceType=tvOS", ground.client(of: visit))
    }

    /// The sign-in request in the answer, Base64.
    func profileRequest(_ answer: Answer) -> String { String(decoding: answer.body, as: UTF8.self) }

    /// - Parameter response: The MVPD's, Base64.
    func exchange(_ visit: Visit, _ response: String) -> [UInt8] {
        let form = ground.calls.device(
            visit.newDevice(ground.run), [("mvpd", ground.mvpdID), ("deviceType", "tvOS"), ("SAMLResponse", response)])
        return ground.calls.post("/api/v1/tokens/authn", ground.client(of: visit), form: form)
    }

    func session(_ visit: Visit) -> [UInt8] {
        ground.calls.get("/api/v1/tokens/authn?\(ground.calls.device(visit.newDevice(ground.run)))", ground.client(of: visit))
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
            visit.signed = ground.sign(facts, for: visit)
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
