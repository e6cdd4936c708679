import Cryptography
import Testing

@Suite struct CodecTests {
    @Test(arguments: zip(["", "f", "fo", "foo", "foob", "fooba", "foobar"], ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"]))
    func encodesTheVectorsOfRFC4648(plain: String, encoded: String) {
        #expect(Base64.standard.encode(Array(plain.utf8)) == encoded)
        #expect(Base64.standard.decode(encoded) == Array(plain.utf8))
        let unpadded = encoded.filter { $0 != "=" }
        #expect(Base64.url.encode(Array(plain.utf8)) == unpadded)
        #expect(Base64.url.decode(unpadded) == Array(plain.utf8))
    }

    @Test func usesTheAlphabetOfItsKind() {
        #expect(Base64.standard.encode([0xFB, 0xFF, 0xFE]) == "+//+")
        #expect(Base64.url.encode([0xFB, 0xFF, 0xFE]) == "-__-")
        #expect(Base64.url.decode("+//+") == nil)
        #expect(Base64.standard.decode("-__-") == nil)
    }

    @Test(arguments: ["Z", "Zg", "Zg=", "Zg===", "====", "Zh==", "Zm9=", "Zm 9v", "Zm9v\n", "=m9v", "Zg==Zg=="])
    func refusesWhatItWouldNotWrite(text: String) {
        #expect(Base64.standard.decode(text) == nil)
    }

    @Test(arguments: ["Z", "Zh", "Zg==", "Zm9"])
    func refusesStrayBitsAndPaddingInURLForm(text: String) {
        #expect(Base64.url.decode(text) == nil)
    }

    @Test func hexRoundTripsAndRefusesGarbage() {
        #expect(Hex.encode([0, 0x0F, 0xA5, 0xFF]) == "000fa5ff")
        #expect(Hex.decode("000FA5ff") == [0, 0x0F, 0xA5, 0xFF])
        #expect(Hex.decode("0") == nil)
        #expect(Hex.decode("0g") == nil)
    }
}
