import Foundation
import SamlProfile
import SamlSigner
import Testing

/// Messages changed at every place: none may be read as something else.
struct MutationTests {
    private let world: World

    init() throws { world = try World.shared.get() }

    /// Verifies octets and tells what was accepted; nil when refused.
    private func accepted(_ octets: [UInt8], _ expected: ExpectedResponse) throws -> VerifiedAssertion? {
        let report = ResponseVerifier().verify(
            try UnverifiedResponse(encoded: Data(octets).base64EncodedString()), expecting: expected, at: World.now)
        guard case .accepted(let assertion) = report.verdict else { return nil }
        return assertion
    }

    @Test(
        "mvpd #51: one octet changed at every position inside a signed assertion never yields other data",
        arguments: [
            UInt8(0x01), 0x20, 0x80,
        ])
    func changesOfOneOctet(mask: UInt8) throws {
        let xml = try world.response()
        let genuine = try world.accepted(xml)
        let expected = try world.expected()
        let octets = Array(xml.utf8)
        let start = xml.utf8.distance(from: xml.startIndex, to: try #require(xml.range(of: "<saml:Assertion")).lowerBound)
        var refused = 0
        for position in start..<octets.count {
            var changed = octets
            changed[position] ^= mask
            if let assertion = try accepted(changed, expected) { #expect(assertion == genuine, "at \(position)") } else { refused += 1 }
        }
        #expect(refused > (octets.count - start) * 9 / 10)
    }

    @Test("a message that is cut anywhere is refused")
    func cutMessages() throws {
        let octets = Array(try world.response().utf8)
        let expected = try world.expected()
        for length in stride(from: 1, to: octets.count, by: 7) {
            #expect(try accepted(Array(octets[..<length]), expected) == nil)
        }
    }

    @Test("random damage is refused quickly, and never read as something else", .tags(.timing))
    func randomDamage() throws {
        let genuine = try world.accepted(try world.response())
        let octets = Array(try world.response { $0.signature = SignatureTemplate() }.utf8)
        let expected = try world.expected()
        var generator = SplitMix(state: 20310304)
        let clock = ContinuousClock()
        let started = clock.now
        var rounds = 0
        while rounds < 3000, clock.now - started < .seconds(10) {
            rounds += 1
            let changed = damage(octets, using: &generator)
            guard !changed.isEmpty else { continue }
            let began = clock.now
            if let assertion = try accepted(changed, expected) { #expect(assertion == genuine) }
            #expect(clock.now - began < .seconds(1))
        }
        #expect(rounds > 100)
    }

    /// Removes, repeats, swaps or overwrites pieces.
    private func damage(_ octets: [UInt8], using generator: inout SplitMix) -> [UInt8] {
        var octets = octets
        for _ in 0..<Int.random(in: 1...4, using: &generator) where octets.count > 64 {
            let start = Int.random(in: 0..<octets.count - 32, using: &generator)
            let piece = Array(octets[start..<start + Int.random(in: 1...32, using: &generator)])
            switch Int.random(in: 0..<4, using: &generator) {
            case 0: octets.removeSubrange(start..<start + piece.count)
            case 1: octets.insert(contentsOf: piece, at: Int.random(in: 0..<octets.count, using: &generator))
            case 2: octets[start] = UInt8.random(in: .min ... .max, using: &generator)
            default: octets.replaceSubrange(start..<start + piece.count, with: piece.reversed())
            }
        }
        return octets
    }
}

/// A small repeatable generator, so that a failure can be played again.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
