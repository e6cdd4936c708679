import Clocks
import Contracts
import Faults
import Foundation
import Identifiers
import Testing

@testable import AutoSignInService

@Suite("Secrecy of values")
struct SecrecyTests {
    @Test("apple #36, #85: neither the files of the store nor any log holds a value, a secret or a bearer")
    func hidesValues() async throws {
        let rig = try TokenRig()
        var secrets: [String] = []
        func note(_ value: String) throws { secrets += [value, try #require(TokenValue(value)?.secret.text)] }
        for index in 0..<5 {
            rig.logins.signIn("tv-\(index)")
            let token = try await rig.issue("tv-\(index)", key: "key-\(index)")
            try note(token.value)
            rig.apple.store(token.value)
            try await rig.confirm(token.familyID, device: "tv-\(index)")
            try await rig.redeem(token.value, on: "guest-\(index)", key: "redeem-\(index)")
            _ = try await rig.rotate(token.familyID, key: "rotate-\(index)")
            rig.apple.then(index == 2 ? .timeOut : index == 3 ? .answer(400) : .answer(204))
            try await rig.deliver()
            let versions = try await rig.files.read { try $0.versions(of: FamilyID(token.familyID)) }
            for value in versions.compactMap(rig.service.outboxValue) { try note(value) }
            _ = await refusal { try await rig.redeem(TokenValue.random(from: SystemRandom()).text) }
            if index == 4 { try await rig.revoke(value: token.value, from: "tv-\(index)") }
        }
        let link = try await rig.service.automaticSignIn.createWebLink(CreateWebLinkRequest(call: rig.call("tv-1")), context: rig.context)
        let web = try await rig.service.automaticSignIn.openWebLink(OpenWebLinkRequest(handle: link.handle), context: rig.context)
        secrets += [link.handle, web.secret] + rig.apple.bearers.map(\.text)
        #expect(secrets.count > 20)

        let files = try rig.folder.contents()
        #expect(files.count >= 3, "the store's file, its journal and the key are searched")
        let known = Data("family_id".utf8)
        #expect(files.contains { $0.range(of: known) != nil }, "a search that finds nothing at all proves nothing")
        for secret in secrets {
            #expect(!files.contains { $0.range(of: Data(secret.utf8)) != nil })
            #expect(!rig.log.lines.contains { $0.contains(secret) })
        }
        #expect(!rig.log.lines.isEmpty)
    }

    @Test("a value and a secret print as [hidden]")
    func prints() {
        let value = TokenValue.random(from: SystemRandom())
        #expect("\(value)" == "[hidden]" && "\(value.secret)" == "[hidden]" && String(reflecting: value.secret) == "[hidden]")
        var dumped = ""
        Swift.dump(value, to: &dumped)
        #expect(!dumped.contains(value.secret.text))
    }

    @Test("what is sealed opens for its owner only, as what it is")
    func seals() throws {
        let keys = try AutoSignInKeys(hex: String(repeating: "5a", count: 32))
        let seal = keys.seal(for: .values)
        let sealed = try seal.close(Array("text".utf8), "value", of: "a")
        #expect(seal.open(sealed, "value", of: "a") == Array("text".utf8))
        #expect(seal.open(sealed, "value", of: "b") == nil)
        #expect(seal.open(sealed, "answer", of: "a") == nil)
        #expect(keys.seal(for: .answers).open(sealed, "value", of: "a") == nil)
        #expect(throws: (any Error).self) { try AutoSignInKeys(hex: "5a") }
    }

    @Test("what another key sealed opens, and a secret that it compared is right; after a start the settings name it")
    func changedKeys() throws {
        let (first, second) = (String(repeating: "5a", count: 32), String(repeating: "a5", count: 32))
        let keys = try AutoSignInKeys(hex: first)
        let (seal, values) = (keys.seal(for: .values), ValueSeal(keys))
        let value = TokenValue.random(from: SystemRandom())
        let (sealed, kept) = (try seal.close(Array("text".utf8), "value", of: "a"), values.comparison(value.secret))
        #expect(throws: (any Error).self) { try keys.adopt(hex: "zz", older: []) }
        try keys.adopt(hex: second, older: [])
        #expect(seal.open(sealed, "value", of: "a") == Array("text".utf8))
        #expect(values.matches(kept, value.secret) && !values.matches(kept, TokenValue.random(from: SystemRandom()).secret))
        #expect(!values.comparison(value.secret).equals(kept), "what is kept now is of the current key")
        let alone = try AutoSignInKeys(hex: second)
        #expect(alone.seal(for: .values).open(sealed, "value", of: "a") == nil && !ValueSeal(alone).matches(kept, value.secret))
        let both = try AutoSignInKeys(hex: second, older: [first])
        #expect(both.seal(for: .values).open(sealed, "value", of: "a") != nil && ValueSeal(both).matches(kept, value.secret))
    }
}
