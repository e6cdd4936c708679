import Clocks
import Identifiers
import Testing

@Suite("Ids and secrets")
struct IdentifierTests {
    private enum Subject {}

    @Test("RFC 9562 §5.4, §5.7: version and variant, and the moment where there is one")
    func uuids() {
        let moment = Timestamp(milliseconds: 0x0123_4567_89ab)
        #expect(FixedRandom(byte: 0xff).uuid(madeAt: moment) == "01234567-89ab-7fff-bfff-ffffffffffff")
        #expect(FixedRandom(byte: 0xff).uuid() == "ffffffff-ffff-4fff-bfff-ffffffffffff")
        #expect(FixedRandom(byte: 0).uuid() == "00000000-0000-4000-8000-000000000000")
        #expect(Set((0..<1000).map { _ in SystemRandom().uuid(madeAt: moment) }).count == 1000)
    }

    @Test("a fraction is from 0 to 1")
    func fractions() {
        #expect(FixedRandom(byte: 0).fraction() == 0)
        #expect(FixedRandom(byte: 0xff).fraction() == 1)
    }

    @Test("a secret shows nowhere, and its digest knows it")
    func secrets() {
        let secret = Secret<Subject>.random(from: SystemRandom())
        var dumped = ""
        dump(secret, to: &dumped)
        #expect(secret.text.utf8.count == 43)
        #expect("\(secret)" == "[hidden]" && String(reflecting: secret) == "[hidden]" && !dumped.contains(secret.text))
        #expect(secret.digest.matches(secret) && !secret.digest.matches(Secret<Subject>("another")))
    }
}

private struct FixedRandom: RandomSource {
    let byte: UInt8

    func bytes(_ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
}
