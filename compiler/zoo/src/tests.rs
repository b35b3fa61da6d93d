//! Counts against published figures, and the models' own consistency.

use std::collections::HashSet;

use neap_onnx::proto::GraphProto;

use super::*;

fn small() -> Options {
    Options { small: true, ..Options::default() }
}

#[test]
fn counts_are_the_published_ones() {
    // Parameters: torchvision's and Hugging Face's model cards. Multiply-adds: torchvision's cards say 4.09 G for ResNet-50
    // and 0.30 G for MobileNetV2; MobileBERT's paper (Sun et al. 2020) 22.5 G operations for BERT-base at 128 tokens; GPT-2's
    // follow from 12 L d^2 a token (Kaplan et al. 2020), attention and the head. torchvision's cards say 5.71 G for
    // Inception-v3 and 2.83 G for DenseNet-121, without the 3.3 M parameters of Inception's auxiliary head. U-Net's 54.7 G at
    // 256 pixels, as often cited, counts all four taps of its transposed convolutions, of which one a result is inside.
    // The searched networks' are those of pretrainedmodels' ports, and in millions those of the papers: NASNet-A 5.3 and 564,
    // PNASNet-5 86.1 and 25.0 G, AmoebaNet-A 5.1 and 555, DARTS 4.7; DARTS' 574 M must count more than its convolutions.
    // Random wirings in the small regime: 5.6 +- 0.1 M and 583 +- 6.2 M. SERENITY says 249.7 k and 57.4 M of SwiftNet. timm's
    // cards: HRNet-W18 21.3 M and 4.32 G.
    let gpt2_macs = 128 * (12 * 12 * 768 * 768 + 12 * 2 * 128 * 768 + 768 * 50257);
    // SmolLM-135M's card, T5's and Whisper's checkpoints, and 20 M of the medium LSTM. Multiply-adds are a token's weights and
    // what tokens do to each other.
    let llama_macs = 128 * (134_515_008 - 61 * 576 + 30 * 2 * 128 * 576);
    let moe_macs = 128 * (123_490_816 - 9 * 512 - 32_000 * 512 + 4 * 2 * 128 * 512);
    let t5_macs = 128 * 6 * (4 * 512 * 512 + 2 * 512 * 2048 + 2 * 128 * 512);
    let whisper_macs = 1500 * (2 * 240 * 512 + 3 * 512 * 512 + 6 * (12 * 512 * 512 + 2 * 1500 * 512));
    let lstm_macs = 35 * (2 * 8 * 650 * 650 + 650 * 10_000);
    for (name, parameters, low, high) in [
        ("resnet50", 25_557_032, 4_085_000_000, 4_095_000_000),
        ("mobilenet-v2", 3_504_872, 299_000_000, 301_500_000),
        ("unet", 31_037_698, 48_171_581_440, 48_171_581_440),
        ("inception-v3", 23_834_568, 5_710_000_000, 5_720_000_000),
        ("densenet121", 7_978_856, 2_830_000_000, 2_840_000_000),
        ("nasnet-a-mobile", 5_289_978, 560_000_000, 570_000_000),
        ("pnasnet5-large", 86_057_668, 24_900_000_000, 25_100_000_000),
        ("amoebanet-a", 5_086_930, 550_000_000, 560_000_000),
        ("darts", 4_718_752, 529_911_552, 529_911_552),
        ("randwire-er", 5_802_276, 576_800_000, 589_200_000),
        ("randwire-ba", 5_677_900, 576_800_000, 589_200_000),
        ("randwire-ws", 5_677_687, 576_800_000, 589_200_000),
        ("swiftnet", 250_622, 56_000_000, 58_000_000),
        ("hrnet-w18", 21_299_004, 4_280_000_000, 4_325_000_000),
        ("resnet18", 11_689_512, 1_810_000_000, 1_820_000_000),
        ("resnext50", 25_028_904, 4_225_000_000, 4_235_000_000),
        ("vgg16", 138_357_544, 15_460_000_000, 15_490_000_000),
        ("vgg19", 143_667_240, 19_620_000_000, 19_650_000_000),
        ("squeezenet", 1_248_424, 810_000_000, 830_000_000),
        ("efficientnet-b0", 5_288_548, 380_000_000, 395_000_000),
        ("vit-b16", 86_567_656, 17_550_000_000, 17_590_000_000),
        ("swin-t", 28_288_354, 4_450_000_000, 4_510_000_000),
        ("llama", 134_515_008, llama_macs, llama_macs),
        ("moe", 123_490_816, moe_macs, moe_macs),
        ("t5-encoder", 35_330_816, t5_macs, t5_macs),
        ("whisper-encoder", 20_590_592, whisper_macs, whisper_macs),
        ("lstm", 19_780_400, lstm_macs, lstm_macs),
        ("nasrnn", 8 * 2 * 512 * 512, 5 * 8 * 2 * 512 * 512, 5 * 8 * 2 * 512 * 512),
        ("resnet50-qdq", 25_557_032, 4_085_000_000, 4_095_000_000),
        ("bert-base-dynamic", 109_482_240, 11_100_000_000, 11_250_000_000),
        ("bert-base", 109_482_240, 11_100_000_000, 11_250_000_000),
        ("gpt2", 124_439_808, gpt2_macs, gpt2_macs),
        ("gpt2-decode", 124_439_808, 123_000_000, 127_000_000),
    ] {
        let c = counts(name, &Options::default()).unwrap();
        assert_eq!(c.parameters, parameters, "{name}");
        let macs = c.macs.unwrap();
        assert!((low..=high).contains(&macs), "{name}: {macs}");
    }
    let symbolic = Options { batch: Size::Symbolic, ..Options::default() };
    assert_eq!(counts("resnet50", &symbolic).unwrap().macs, None);
}

#[test]
fn every_value_is_defined_once_before_its_use() {
    let symbolic =
        Options { batch: Size::Symbolic, seq: Size::Symbolic, past: Size::Symbolic, decomposed_norms: true, ..small() };
    for options in [small(), symbolic] {
        for entry in list() {
            let model = build(entry.name, &options).unwrap();
            check(entry.name, model.graph.as_ref().unwrap());
            neap_onnx::from_proto(model, &neap_onnx::external::NoExternal).unwrap();
        }
    }
}

fn check(model: &str, g: &GraphProto) {
    let mut known = HashSet::new();
    let mut nodes = HashSet::new();
    for name in g.input.iter().map(|i| &i.name).chain(g.initializer.iter().map(|t| &t.name)) {
        assert!(known.insert(name.clone()), "{model}: {name} twice");
    }
    for n in &g.node {
        assert!(nodes.insert(&n.name), "{model}: two nodes {}", n.name);
        for i in &n.input {
            assert!(i.is_empty() || known.contains(i), "{model}: {} reads {i}", n.name);
        }
        for o in &n.output {
            assert!(known.insert(o.clone()), "{model}: {o} twice");
        }
    }
    for o in &g.output {
        assert!(known.contains(&o.name), "{model}: no {}", o.name);
    }
    for t in &g.initializer {
        let bytes = match t.data_type {
            1 | 6 => 4,
            7 => 8,
            _ => 1,
        };
        let count: i64 = t.dims.iter().product();
        assert_eq!(t.raw_data.as_ref().map(|d| d.len() as i64), Some(count * bytes), "{model}: {}", t.name);
    }
}

#[test]
fn quantised_models_have_the_weights_in_8_bits() {
    // Of 25,557,032 parameters all but those of the batch norms (2 x 26,560) and the last bias; BERT's matrices and tables.
    let bert = 12 * (4 * 768 * 768 + 2 * 768 * 3072) + 768 * 768 + (30_522 + 512 + 2) * 768;
    for (name, weights) in [("resnet50-qdq", 25_557_032 - 2 * 26_560 - 1000), ("bert-base-dynamic", bert)] {
        let graph = build(name, &Options::default()).unwrap().graph.unwrap();
        let narrow = graph.initializer.iter().filter(|t| t.data_type == 3 && t.name.ends_with("_quantized"));
        assert_eq!(narrow.map(|t| t.dims.iter().product::<i64>()).sum::<i64>(), weights, "{name}");
        let floats = graph.initializer.iter().filter(|t| t.data_type == 1);
        let floats: i64 = floats.map(|t| t.dims.iter().product::<i64>()).sum();
        assert!(floats < weights / 100, "{name}: {floats} floats");
        assert!(!graph.node.iter().any(|n| n.op_type == "BatchNormalization"), "{name}");
    }
}

#[test]
fn weights_follow_the_seed() {
    let first = build("resnet50", &small()).unwrap();
    assert_eq!(first, build("resnet50", &small()).unwrap());
    assert_ne!(first, build("resnet50", &Options { seed: 1, ..small() }).unwrap());
    let drawn = weights::Fill::Spread(2.0).draw(3, "w", 100_001);
    let v: Vec<f32> = drawn.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
    let (mean, square) = (v.iter().sum::<f32>() / 1e5, v.iter().map(|x| x * x).sum::<f32>() / 1e5);
    assert!(mean.abs() < 0.03 && (square - 4.0).abs() < 0.05, "{mean} {square}");
}

#[test]
fn refusals_name_the_way_out() {
    let refusal = |name: &str, o: Options| build(name, &o).unwrap_err().to_string();
    let unknown = "the zoo has no alexnet; `neap zoo list` names what it has";
    assert_eq!(refusal("alexnet", small()), unknown);
    assert_eq!(refusal("resnet50", Options { image: Some(8), ..small() }), "image is 8, expected 32 to 4096");
    assert_eq!(refusal("unet", Options { image: Some(33), ..small() }), "image is 33, expected a multiple of 4");
    assert_eq!(refusal("bert-base", Options { seq: Size::Fixed(65), ..small() }), "seq is 65, expected 1 to 64");
    let past = Options { past: Size::Fixed(64), ..small() };
    assert_eq!(refusal("gpt2-decode", past), "past + seq is 65, expected 1 to 64");
    assert_eq!(refusal("gpt2", Options { batch: Size::Fixed(0), ..small() }), "batch is 0, expected at least 1");
}
