@testable import WorkshopCommands
import Cryptography
import Foundation
import LoadTool
import SamlResponder
import Testing

/// The visits of `boxoffice load gateway --api v2`, call by call.
@Suite("Load by apps on REST v2")
struct V2ScriptTests {
    private static let key = Result { try RSAPrivateKey.generate() }

    private func setup() throws -> GatewaySetup {
        let calls = GatewayCalls(host: "gateway:80", requestor: "ACME1")
        return GatewaySetup(
            calls: calls, clients: [GatewayCalls.Client(accessToken: "t", host: "gateway:80", hardware: .appleTV)],
            devices: [GatewaySetup.Device(id: "tv", client: 0)],
            mvpd: PlayedMvpd(entityID: "https://north.example", key: try Self.key.get()), mvpdID: "NorthCable", api: .v2, domain: "acme.example",
            resource: "ACME1-NEWS", gateway: "http://gateway", run: "r")
    }

    /// Plays one visit.
    /// - Parameter answers: To its calls, in their order.
    /// - Returns: First line and body of each call.
    private func visit(_ script: any GatewayScript, _ answers: [Answer]) async throws -> [String] {
        let visit = Visit(number: 7, draw: 0.5, script: script, offset: 0)
        var (step, calls, left) = (script.begin(visit), [String](), answers[...])
        while true {
            switch step {
            case .call(let call):
                #expect(call.operation == calls.count)
                let text = String(decoding: call.payload, as: UTF8.self)
                let body = text.components(separatedBy: "\r\n\r\n").dropFirst().joined()
                calls.append((text.components(separatedBy: " HTTP/1.1")[0] + " " + body).trimmingCharacters(in: .whitespaces))
                let needsDevice = text.hasPrefix("GET /api/v2/ACME1") || text.hasPrefix("POST /api/v2/ACME1")
                #expect(!needsDevice || text.contains("\r\nAP-Device-Identifier: fingerprint "))
                step = script.proceed(visit, left.popFirst() ?? .none)
            case .pause:
                try await Task.sleep(for: .milliseconds(5))
                step = script.proceed(visit, .none)
            case .done: return calls
            case .failed(let code, let message): return calls + ["\(code): \(message)"]
            }
        }
    }

    private func json(_ text: String) -> Answer { Answer(status: 200, body: Array(text.utf8)) }

    @Test("a signed-in device plays and starts")
    func prepared() async throws {
        #expect(
            try await visit(V2PlaybackScript(setup()), []) == [
                "GET /api/v2/ACME1/profiles/NorthCable",
                #"POST /api/v2/ACME1/decisions/authorize/NorthCable {"resources":["ACME1-NEWS"]}"#,
            ])
        #expect(
            try await visit(V2AppStartScript(setup()), []) == [
                "GET /api/v2/ACME1/configuration", "GET /api/v2/ACME1/profiles",
                #"POST /api/v2/ACME1/decisions/preauthorize/NorthCable {"resources":["ACME1-NEWS"]}"#,
            ])
    }

    @Test("a second screen signs in by the session's address, and an answer without a profile is a failure")
    func secondScreen() async throws {
        let request =
            "fZC7CsJAEEV/JUxhp2tSjtlIUIuANoq2soYJCezLnV3x842KoI3lnXsODLdkZbTHOsXe7umaiGN2N9oyvgoJKVh0igdGqwwxxhYP9W6LxWyOPr"
            + "joWqfhS/lvKGYKcXAWsmYt4RxyyE4UeLxIGAHI6g+xcpaToXCgcBtaOu63EvoYPQrBfkZ3ZbwmoVpeKplPxrS4yAKq8vkENsyJQvXk+Vdwdnqh"
            + "Xulu6jpRr3abvBTfyjv9LlI9AA=="
        let query = "SAMLRequest=\(request.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")&RelayState=s"
        let redirect = Answer(status: 302, headers: [("location", "https://north.example/sso?\(query)"), ("set-cookie", "c=1; Path=/")])
        let (session, none) = (json(#"{"code":"QK7M2XD"}"#), json(#"{"profiles":{}}"#))
        let calls = try await visit(
            V2SecondScreenScript(setup()), [session, none, redirect, Answer(status: 302), json(#"{"profiles":{"NorthCable":{}}}"#), .none])
        #expect(
            calls.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                "POST /api/v2/ACME1/sessions", "GET /api/v2/ACME1/profiles/code/QK7M2XD", "GET /api/v2/authenticate/ACME1/QK7M2XD", "POST /acs",
                "GET /api/v2/ACME1/profiles/code/QK7M2XD", "POST /api/v2/ACME1/decisions/authorize/NorthCable",
            ])
        #expect(calls[0].hasSuffix("mvpd=NorthCable&domainName=acme.example&redirectUrl=https%3A%2F%2Facme.example%2Fsigned-in"))
        let vain = try await visit(V2SecondScreenScript(setup()), [session, none, redirect, Answer(status: 302), none])
        #expect(vain.last == "unexpected_answer: nobody is signed in after the MVPD's answer")
    }

    @Test("a platform's login is exchanged with the framework's status")
    func partner() async throws {
        let asked = "<AuthnRequest ID=\"_1\" AssertionConsumerServiceURL=\"https://sp.example/acs\"><Issuer>sp</Issuer></AuthnRequest>"
        let session = json(
            #"{"actionName":"partner_profile","actionType":"direct","reasonType":"none","sessionId":"s","serviceProvider":"ACME1","#
                + #""authenticationRequest":{"type":"saml","request":"\#(Data(asked.utf8).base64EncodedString())","attributesNames":[]}}"#)
        let calls = try await visit(V2PartnerScript(setup()), [session, json("{}"), json("{}")])
        #expect(
            calls.map { $0.split(separator: " ").prefix(2).joined(separator: " ") } == [
                "POST /api/v2/ACME1/sessions/sso/Apple", "POST /api/v2/ACME1/profiles/sso/Apple", "GET /api/v2/ACME1/profiles/NorthCable",
            ])
        #expect(calls[1].contains("SAMLResponse="))
    }

    @Test("only apps of the past sign requests or keep the SDKs' tokens")
    func scenarios() throws {
        #expect(GatewayScenario.allCases.filter { $0.isOf(.v2) } == [.secondScreen, .playback, .tokenExchange, .mixed])
        #expect(GatewayScenario.allCases.allSatisfy { $0.isOf(.v1) })
        #expect(GatewayScenario.mixed.workload(try setup(), worker: 0, workers: 1).operations.count == 14)
    }
}
