@testable import ClusterCommands
@testable import CommandKit
import Testing
import TextEncodings

extension RestV1Tests {
    @Suite("Format, parameters, errors")
    struct FormatTests {
        @Test("rest-v1 #13: a failure is JSON with status and message when JSON is asked for")
        func jsonFailure() async throws {
            let answer = try await Device.make().get("/api/v1/checkauthn")
            #expect(answer.status == 403 && answer.isJSON)
            #expect(answer.object["status"] as? Int == 403)
            #expect((answer.object["message"] as? String)?.isEmpty == false)
            #expect(answer.header("adobe-request-id")?.isEmpty == false)
        }

        @Test("rest-v1 #14: format=xml without Accept is XML")
        func formatParameter() async throws {
            let device = try await Device.make()
            let call = device.call("/api/v1/checkauthn", ["format": "xml"]).with { $0.headers["Accept"] = nil }
            let answer = try await device.cluster.send(call)
            #expect(answer.status == 403 && answer.isXML)
            #expect(answer.element("status") == "403")
        }

        @Test("rest-v1 #15: the suffix .json wins over Accept")
        func suffix() async throws {
            let device = try await Device.make()
            let call = device.codeCall().with {
                $0.path += ".json"
                $0.headers["Accept"] = "application/xml"
            }
            let answer = try await device.cluster.send(call)
            #expect(answer.status == 201 && answer.isJSON)
        }

        @Test("rest-v1 #17: a missing deviceId is named")
        func missingDevice() async throws {
            let device = try await Device.make()
            let answer = try await device.cluster.send(device.call("/api/v1/checkauthn").with { $0.query["deviceId"] = nil })
            #expect(answer.status == 400)
            #expect((answer.object["message"] as? String)?.contains("deviceId") == true)
        }

        @Test("rest-v1 #18: device information that is not Base64 is invalid_device_info")
        func undecodableDevice() async throws {
            let device = try await Device.make("BRAVO")
            let answer = try await device.cluster.send(device.call("/api/v1/checkauthn").with { $0.headers["X-Device-Info"] = "!not base64!" })
            #expect(answer.status == 400 && answer.object["code"] as? String == "invalid_device_info")
        }

        @Test("rest-v1 #19: device information without osName is refused, in the header and in the form")
        func deviceWithoutSystem() async throws {
            let device = try await Device.make()
            let incomplete = Device.encoded(#"{"model":"Test TV"}"#)
            let byHeader = try await device.cluster.send(device.codeCall().with { $0.headers["X-Device-Info"] = incomplete })
            let byForm = try await device.cluster.send(device.codeCall([("device_info", incomplete)]).with { $0.headers["X-Device-Info"] = nil })
            #expect(byHeader.status == 400 && byForm.status == 400)
            #expect(byHeader.text == byForm.text)
        }

        @Test("rest-v1 #20: URL-encoded Base64 in the header is accepted")
        func encodedHeader() async throws {
            let device = try await Device.make()
            let encoded = FormEncoding.encode(Device.encoded(#"{"model":"Test TV!","osName":"Linux"}"#))
            try #require(encoded.contains("%"))
            #expect(try await device.cluster.send(device.codeCall().with { $0.headers["X-Device-Info"] = encoded }).status == 201)
        }

        @Test("rest-v1 #21: an unknown requestor is refused by every endpoint that has one")
        func unknownRequestor() async throws {
            let device = try await Device.make().at("NOPE")
            let cluster = device.cluster
            let code = "ABCDEFG"
            let reggie = "/reggie/v1/NOPE/regcode"
            let resource = ["resource": "ACME1-NEWS"]
            func form(_ path: String, _ fields: [(String, String)]) -> Call { .form(path, fields, headers: device.headers) }
            var calls: [(description: String, call: Call)] = [
                ("get /api/v1/config/{requestor}", Call("GET", "/api/v1/config/NOPE", headers: device.headers)),
                ("post /api/v1/config/{requestor}", form("/api/v1/config/NOPE", [])),
                ("post /reggie/v1/{requestor}/regcode", device.codeCall()),
                ("get /reggie/v1/{requestor}/regcode/{code}", Call("GET", "\(reggie)/\(code)", headers: device.headers)),
                ("delete /reggie/v1/{requestor}/regcode/{code}", Call("DELETE", "\(reggie)/\(code)", headers: device.headers)),
                ("get /api/v1/authenticate", Call("GET", "/api/v1/authenticate", query: device.signInParameters(code))),
                ("get /api/v1/checkauthn/{code}", device.call("/api/v1/checkauthn/\(code)")),
                ("get /api/v1/authenticate/{code}", device.call("/api/v1/authenticate/\(code)")),
                ("delete /api/v1/logout", device.call("/api/v1/logout", method: "DELETE")),
                ("get /api/v1/logout", device.call("/api/v1/logout")),
                ("post /api/v1/preauthorize", form("/api/v1/preauthorize", [("requestor", "NOPE"), ("deviceId", device.id), ("resource", "a")])),
                ("get /api/v1/preauthorize/{code}", device.call("/api/v1/preauthorize/\(code)", resource)),
                (
                    "get /api/v1/{requestor}/profile-requests/{mvpd}",
                    device.call("/api/v1/NOPE/profile-requests/NorthCable", ["deviceType": "tvOS"])
                ),
                (
                    "post /api/v1/tokens/authn",
                    form(
                        "/api/v1/tokens/authn",
                        [
                            ("requestor", "NOPE"), ("deviceId", device.id), ("mvpd", "NorthCable"), ("deviceType", "tvOS"),
                            ("SAMLResponse", "PHg+PC94Pg=="),
                        ])
                ),
                (
                    "post /api/v1/authenticate/freepreview",
                    form(
                        "/api/v1/authenticate/freepreview",
                        [("requestor_id", "NOPE"), ("deviceId", device.id), ("mso_id", "Preview10"), ("domain_name", "acme.example")])
                ),
                ("get /sp/metadata", Call("GET", "/sp/metadata", query: ["requestor": "NOPE"])),
            ]
            for name in ["checkauthn", "tokens/authn", "tokens/usermetadata"] {
                calls.append(("get /api/v1/\(name)", device.call("/api/v1/\(name)")))
            }
            for name in ["authorize", "tokens/authz", "preauthorize", "mediatoken", "tokens/media"] {
                calls.append(("get /api/v1/\(name)", device.call("/api/v1/\(name)", resource)))
            }
            for call in calls {
                let answer = try await cluster.send(call.call)
                #expect(answer.status == 400, "\(call.description): \(answer.status) \(answer.text)")
            }
            let described = try Self.withRequestor(try await cluster.send(Call("GET", "/openapi.json")).object)
            #expect(described.subtracting(calls.map(\.description)) == [], "endpoints of this API that are not tried")
            #expect(Set(calls.map(\.description)).subtracting(described) == [], "what is tried is described")
        }

        /// Operations of rest-v1 that take a requestor, by the gateway's own description. Those of administrators, of Automatic Sign-In and of the
        /// gateway's pages are other specifications'.
        private static func withRequestor(_ description: [String: Any]) throws -> Set<String> {
            let paths = try #require(description["paths"] as? [String: [String: Any]])
            let components = try #require(description["components"] as? [String: Any])
            let shared = try #require(components["parameters"] as? [String: [String: Any]])
            func takesRequestor(_ parameters: Any?) -> Bool {
                (parameters as? [[String: Any]] ?? []).contains { parameter in
                    let name = (parameter["$ref"] as? String)?.split(separator: "/").last.flatMap { shared[String($0)] } ?? parameter
                    return ["requestor", "requestor_id"].contains(name["name"] as? String ?? "")
                }
            }
            var found: Set<String> = []
            for (path, item) in paths where ["/api/", "/reggie/", "/sp/"].contains(where: path.hasPrefix) {
                for (method, operation) in item {
                    guard ["get", "post", "put", "patch", "delete"].contains(method), let operation = operation as? [String: Any] else { continue }
                    let form = (operation["requestBody"] as? [String: Any]).map { "\($0)" } ?? ""
                    let isInForm = form.contains("requestor") || method == "post" && path == "/api/v1/tokens/authn"
                    if takesRequestor(operation["parameters"]) || takesRequestor(item["parameters"]) || isInForm { found.insert("\(method) \(path)") }
                }
            }
            try #require(found.count > 15)
            return found
        }

        @Test("rest-v1 #22: POST on authorize is not allowed")
        func wrongMethod() async throws {
            let device = try await Device.make()
            let answer = try await device.cluster.send(device.call("/api/v1/authorize", ["resource": "ACME1-NEWS"], method: "POST"))
            #expect(answer.status == 405)
            #expect(answer.header("allow")?.contains("GET") == true)
        }

        @Test("rest-v1 #25: code and trace are there exactly where enhanced errors are on")
        func enhancedErrors() async throws {
            let plain = try await Device.make("ACME1").get("/api/v1/checkauthn")
            #expect(plain.status == 403)
            #expect(Set(plain.object.keys) == ["status", "message", "details"])
            let enhanced = try await Device.make("BRAVO").get("/api/v1/checkauthn")
            #expect(enhanced.status == 403)
            #expect(enhanced.object["code"] as? String == "authentication_session_missing")
            #expect(enhanced.object["action"] as? String == "authentication")
            #expect((enhanced.object["helpUrl"] as? String)?.hasPrefix("http") == true)
            #expect((enhanced.object["trace"] as? String)?.isEmpty == false)
        }

        @Test("rest-v1 #96: Accept is a list with preferences")
        func acceptList() async throws {
            let device = try await Device.make()
            for (accept, isJSON) in [("application/json, text/plain, */*", true), ("text/html, application/xml;q=0.9, */*;q=0.8", false)] {
                let answer = try await device.cluster.send(device.call("/api/v1/checkauthn").with { $0.headers["Accept"] = accept })
                #expect(answer.isJSON == isJSON && answer.isXML == !isJSON, "\(accept)")
            }
        }

        @Test("rest-v1 #115: a preflight needs no bearer and allows registered origins alone")
        func preflight() async throws {
            let cluster = try TestCluster.running()
            let own = "https://www.acme.example"
            let call = Call(
                "OPTIONS", "/api/v1/checkauthn/ABCDEFG", query: ["requestor": "ACME1"],
                headers: ["Origin": own, "Access-Control-Request-Method": "GET"])
            let allowed = try await cluster.send(call)
            #expect(allowed.status == 204)
            #expect(allowed.header("access-control-allow-origin") == own)
            #expect(allowed.header("access-control-allow-credentials") == "true")
            #expect(allowed.header("access-control-allow-headers")?.contains("X-Device-Info") == true)
            let foreign = try await cluster.send(call.with { $0.headers["Origin"] = "https://acme.example.evil.example" })
            #expect(foreign.header("access-control-allow-origin") == nil && foreign.header("access-control-allow-headers") == nil)
        }
    }
}
