import Cryptography
import Foundation
import Testing

@Suite struct RSAEncryptionTests {
    private let key: RSAPrivateKey
    private let text = Array("user-ada".utf8)

    init() throws { key = try .generate() }

    @Test("what is encrypted is read with the private key, and never looks the same twice", arguments: [RSAEncryptionPadding.oaepSHA256, .pkcs1v15])
    func roundTrip(_ padding: RSAEncryptionPadding) throws {
        let block = try key.publicKey.encrypt(text, padding: padding)
        #expect(block.count == 256)
        #expect(try key.decrypt(block, padding: padding) == text)
        #expect(try key.publicKey.encrypt(text, padding: padding) != block)
        #expect(try key.decrypt(key.publicKey.encrypt([], padding: padding), padding: padding) == [])
    }

    @Test("rest-v1 §8: 190 bytes fit into a block of 2048 bits, one more does not")
    func longest() throws {
        #expect(key.publicKey.longestPlaintext(.oaepSHA256) == 190)
        #expect(key.publicKey.longestPlaintext(.pkcs1v15) == 245)
        for padding in [RSAEncryptionPadding.oaepSHA256, .pkcs1v15] {
            let longest = [UInt8](repeating: 7, count: key.publicKey.longestPlaintext(padding))
            #expect(try key.decrypt(key.publicKey.encrypt(longest, padding: padding), padding: padding) == longest)
            #expect(throws: CryptographyError.self) { try key.publicKey.encrypt(longest + [7], padding: padding) }
        }
    }

    @Test("another key and an altered block open nothing")
    func refuses() throws {
        var block = try key.publicKey.encrypt(text, padding: .oaepSHA256)
        #expect(throws: CryptographyError.cannotOpen) { try RSAPrivateKey.generate().decrypt(block, padding: .oaepSHA256) }
        block[17] ^= 1
        #expect(throws: CryptographyError.cannotOpen) { try key.decrypt(block, padding: .oaepSHA256) }
        #expect(throws: CryptographyError.cannotOpen) { try key.decrypt([1, 2, 3], padding: .oaepSHA256) }
    }

    @Test("the openssl tool reads both, with SHA-256 also in MGF1", arguments: [RSAEncryptionPadding.oaepSHA256, .pkcs1v15])
    func otherReader(_ padding: RSAEncryptionPadding) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("boxoffice-rsa-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (keyFile, blockFile) = (folder.appendingPathComponent("key.pem"), folder.appendingPathComponent("block"))
        try Data(key.pem().utf8).write(to: keyFile)
        try Data(key.publicKey.encrypt(text, padding: padding)).write(to: blockFile)
        let options =
            switch padding {
            case .pkcs1v15: ["rsa_padding_mode:pkcs1"]
            case .oaepSHA256: ["rsa_padding_mode:oaep", "rsa_oaep_md:sha256", "rsa_mgf1_md:sha256"]
            }
        let reader = Process()
        let output = Pipe()
        reader.executableURL = URL(fileURLWithPath: "/usr/bin/openssl")
        reader.arguments = ["pkeyutl", "-decrypt", "-inkey", keyFile.path, "-in", blockFile.path] + options.flatMap { ["-pkeyopt", $0] }
        reader.standardOutput = output
        try reader.run()
        let read = try output.fileHandleForReading.readToEnd()
        reader.waitUntilExit()
        #expect(reader.terminationStatus == 0)
        #expect(read.map { [UInt8]($0) } == text)
    }
}
