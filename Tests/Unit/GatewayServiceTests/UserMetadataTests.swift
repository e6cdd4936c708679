internal import Contracts
internal import Faults
internal import Testing

@Suite struct UserMetadataTests {
    let gateway = TestGateway()
    private let path = "/api/v1/tokens/usermetadata?\(TestGateway.deviceQuery)"

    private static let metadata = UserMetadata(
        updatedAtSeconds: 1_741_083_330, encrypted: ["zip"],
        data: [
            MetadataEntry(key: "zip", value: .text("bG9ja2Vk")), MetadataEntry(key: "channelID", value: .list(TextList(values: ["a", "b"]))),
            MetadataEntry(key: "maxRating", value: .map(TextMap(entries: [TextMapEntry(key: "MPAA", value: "PG")]))),
            MetadataEntry(key: "hba_status", value: .flag(true)), MetadataEntry(key: "remaining_resources", value: .number(0)),
        ])

    @Test("rest-v1 §3.19: the JSON has the values by their types")
    func json() async throws {
        gateway.authentication.getUserMetadata.answer { _, _ in Self.metadata }
        let reply = try await gateway.get(path)
        #expect(
            reply.text
                == #"{"updated":1741083330,"encrypted":["zip"],"data":{"zip":"bG9ja2Vk","channelID":["a","b"],"maxRating":{"MPAA":"PG"},"#
                + #""hba_status":true,"remaining_resources":0}}"#)
    }

    @Test("rest-v1 #16: Accept */* is XML, with lists as values and objects as elements")
    func xml() async throws {
        gateway.authentication.getUserMetadata.answer { _, _ in Self.metadata }
        let reply = try await gateway.get(path, TestGateway.device.with(.accept, "*/*"))
        #expect(
            reply.text.hasSuffix(
                "<usermetadata><updated>1741083330</updated><encrypted><key>zip</key></encrypted><data><zip>bG9ja2Vk</zip>"
                    + "<channelID><value>a</value><value>b</value></channelID><maxRating><MPAA>PG</MPAA></maxRating>"
                    + "<hba_status>true</hba_status><remaining_resources>0</remaining_resources></data></usermetadata>"))
    }

    @Test("bridge B57: a key that is no name of XML is left out there, in the whole and in its objects; JSON shows it")
    func hostileNames() async throws {
        let hostile = "/></maxRating><userID>mallory"
        gateway.authentication.getUserMetadata.answer { _, _ in
            UserMetadata(
                updatedAtSeconds: 1,
                data: [
                    MetadataEntry(key: "zip", value: .text("12345")), MetadataEntry(key: hostile, value: .text("x")),
                    MetadataEntry(key: "1st", value: .text("x")), MetadataEntry(key: "a:b", value: .text("x")),
                    MetadataEntry(key: "", value: .text("x")),
                    MetadataEntry(
                        key: "maxRating",
                        value: .map(TextMap(entries: [TextMapEntry(key: hostile, value: "x"), TextMapEntry(key: "Größe-1.2", value: "y")]))),
                ])
        }
        let xml = try await gateway.get(path, TestGateway.device.with(.accept, "*/*"))
        #expect(
            xml.text.hasSuffix(
                "<usermetadata><updated>1</updated><encrypted></encrypted><data><zip>12345</zip><maxRating><Größe-1.2>y</Größe-1.2></maxRating></data>"
                    + "</usermetadata>"), "\(xml.text)")
        let json = try await gateway.get(path)
        #expect(
            json.text
                == #"{"updated":1,"encrypted":[],"data":{"zip":"12345","/></maxRating><userID>mallory":"x","1st":"x","a:b":"x","":"x","#
                + #""maxRating":{"/></maxRating><userID>mallory":"x","Größe-1.2":"y"}}}"#, "\(json.text)")
    }

    @Test("rest-v1 #84: nothing to tell is a plain 404, also with enhanced errors; no session and an expired one are 412")
    func refusals() async throws {
        gateway.authentication.getUserMetadata.answer { _, _ in UserMetadata(updatedAtSeconds: 1) }
        for requestor in ["ACME1", "BRAVO"] {
            let reply = try await gateway.get("/api/v1/tokens/usermetadata?requestor=\(requestor)&deviceId=d")
            #expect(reply.status == 404)
            #expect(reply.text == #"{"status":404,"message":"Not Found","details":null}"#)
        }
        for code in [Fault.Code.authenticationSessionMissing, .authenticationSessionExpired] {
            gateway.authentication.getUserMetadata.answer { _, _ in throw Fault(code, "") }
            let reply = try await gateway.get("/api/v1/tokens/usermetadata?requestor=BRAVO&deviceId=d")
            #expect(reply.status == 412)
            #expect(reply.json["code"] as? String == code.rawValue && reply.json["status"] as? Int == 412)
            #expect(reply.json["message"] as? String == "User not authenticated")
        }
    }

    @Test("rest-v1 #107: the requestor may be absent, but not unknown")
    func requestor() async throws {
        gateway.authentication.getUserMetadata.answer { _, _ in Self.metadata }
        #expect(try await gateway.get("/api/v1/tokens/usermetadata?deviceId=dev-7f3a").status == 200)
        #expect(gateway.authentication.getUserMetadata.requests.map { $0.call?.requestor } == [""])
        #expect(try await gateway.get("/api/v1/tokens/usermetadata?deviceId=d&requestor=NOPE").status == 400)
        #expect(try await gateway.get("/api/v1/tokens/usermetadata").status == 400)
    }
}
